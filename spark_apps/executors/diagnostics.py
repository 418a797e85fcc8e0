"""Explains missing executors: by the state of their Pods, or by the API server's refusal to create one."""

from __future__ import annotations

import json
import os
import ssl
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from paimon_contract import environment

_TIMEOUT_SECONDS = 10


def explain_missing(namespace: str) -> str:
    """One sentence. Never raises, because it is part of the message of another failure."""
    try:
        pods = _ask(namespace, query=f"labelSelector=spark-app-selector%3D{os.environ[environment.POD_NAME]}")["items"]
        return describe_pod(pods[-1]) if pods else _refusal(namespace)
    except (OSError, ValueError, KeyError) as error:
        return f"the API server cannot be asked why ({error})"


def describe_pod(pod: dict[str, Any]) -> str:
    """What one Pod waits for, or why it ended."""
    name, status = pod["metadata"]["name"], pod.get("status") or {}
    for condition in status.get("conditions") or ():
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return f"no node takes pod {name}: {condition.get('message', '')}"
    for container in status.get("containerStatuses") or ():
        state = container["state"]
        if waiting := state.get("waiting"):
            return f"pod {name} waits: {waiting.get('reason', '')} {waiting.get('message', '')}".rstrip()
        if ended := state.get("terminated"):
            return f"pod {name} ended with exit code {ended['exitCode']} ({ended.get('reason', '')}); see its log"
    return f"pod {name} is {status.get('phase', 'unknown')} {status.get('reason', '')}".rstrip()


def _refusal(namespace: str) -> str:
    """The API server's answer to a dry run of an executor's Pod."""
    driver = _ask(namespace, f"/{os.environ[environment.POD_NAME]}")["metadata"]
    pod = json.loads(Path(os.environ[environment.EXECUTOR_TEMPLATE]).read_text(encoding="utf-8"))
    owner = {"apiVersion": "v1", "kind": "Pod", "name": driver["name"], "uid": driver["uid"], "controller": True}
    pod["metadata"] |= {"name": f"{driver['name']}-exec-0", "ownerReferences": [owner]}
    container = pod["spec"]["containers"][0]
    container |= {"image": os.environ[environment.EXECUTOR_IMAGE], "args": ["executor"]}
    # A quota counts requests, so a Pod without sizes would be refused for that alone.
    sizes = {"cpu": "1m", "memory": "1Mi"}
    container["resources"] = {"requests": sizes, "limits": {"memory": "1Mi"}}
    try:
        _ask(namespace, query="dryRun=All", body=pod)
    except urllib.error.HTTPError as error:
        return f"the API server refuses executor pods: {json.loads(error.read()).get('message', error.reason)}"
    return "there is no executor pod; see the driver's log"


def _ask(namespace: str, path: str = "", *, query: str = "", body: Any = None) -> Any:
    access = Path(os.environ[environment.API_ACCESS])
    host, port = os.environ[environment.KUBERNETES_SERVICE_HOST], os.environ[environment.KUBERNETES_SERVICE_PORT]
    address = f"[{host}]" if ":" in host else host
    request = urllib.request.Request(
        f"https://{address}:{port}/api/v1/namespaces/{namespace}/pods{path}?{query}",
        data=None if body is None else json.dumps(body).encode(),
        headers={
            "Authorization": f"Bearer {(access / 'token').read_text(encoding='utf-8').strip()}",
            "Content-Type": "application/json",
        },
    )
    trusted = ssl.create_default_context(cafile=str(access / "ca.crt"))
    with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS, context=trusted) as answer:  # noqa: S310
        return json.load(answer)
