"""Searches all objects, the audit log and all logs of the cluster for the value of any Secret.

`python -m tests.support.secret_search` is the last step of `make test` and `make test-e2e`; a found value fails them.
The audit log has deleted objects, because it has the body of every write (except of Secrets and tokens). Logs of
deleted Pods are searched when their test ends (`in_logs_of`).
"""

from __future__ import annotations

import base64
import json
import mmap
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Final

from tests.cluster import release
from tests.cluster.layout import Layout
from tests.support.secret_values import SHORTEST, SecretValue, registered

KINDS: Final = (
    "pods,configmaps,events,serviceaccounts,leases,deployments,replicasets,jobs,"
    "paimontables,paimoncatalogs,paimonruns,paimonexecutorrights,validatingadmissionpolicies,namespaces"
)
_HELM: Final = "helm.sh/release.v1"
"""A release's Secret holds the chart and its values, compressed."""
_USER: Final = "username"
"""Key of a Secret whose value is not secret: a database's own error contains it."""
Place = tuple[str, bytes | mmap.mmap]


def found(values: Iterable[SecretValue], places: Iterable[Place]) -> list[str]:
    """Finds values, such as `AWS_SECRET_ACCESS_KEY in pods shop/x`, once per value and place."""
    sought = [(value, value.forms()) for value in values]
    hits = (
        f"{value.name} in {name}"
        for name, content in places
        for value, forms in sought
        if any(content.find(form) >= 0 for form in forms)
    )
    return sorted(set(hits))


def everywhere(env: Mapping[str, str], layout: Layout) -> Iterator[Place]:
    """All places of one cluster."""
    yield from objects(env)
    yield from files("audit log", layout.audit_log.parent, "audit*.log")
    yield from files("log of pod", _pod_logs(layout), "*.log*")


def objects(env: Mapping[str, str]) -> Iterator[Place]:
    """Every existing object of KINDS. Secrets are not among them, because they may contain the values."""
    for item in _kubectl(env, "get", KINDS, "--all-namespaces"):
        meta = item["metadata"]
        yield (
            f"{item['kind']} {meta.get('namespace', '')}/{meta['name']}",
            json.dumps(item, ensure_ascii=False).encode(),
        )


def files(what: str, directory: Path, pattern: str) -> Iterator[Place]:
    """Files of the node at any depth. A file or directory that vanishes meanwhile belongs to a terminating Pod."""
    walked = (Path(folder, name) for folder, _, names in os.walk(directory) for name in names)
    for path in sorted(path for path in walked if fnmatch(str(path.relative_to(directory)), pattern)):
        try:
            if not path.is_file() or path.stat().st_size == 0:
                continue
            with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                yield f"{what} {path.relative_to(directory)}", content
        except FileNotFoundError:
            continue


def in_logs_of(namespace: str, layout: Layout | None = None) -> list[str]:
    """Values found in the logs of a namespace's existing Pods."""
    known = registered(layout=layout)
    return found(known, files("log of pod", _pod_logs(layout or Layout()), f"{namespace}_*.log*"))


def in_secrets(env: Mapping[str, str]) -> tuple[set[SecretValue], list[str]]:
    """Values of the existing Secrets, and the names of those that are too short to search for."""
    values, short = set(), []
    for secret in _kubectl(env, "get", "secrets", "--all-namespaces"):
        if secret.get("type") == _HELM:
            continue
        for key, encoded in (secret.get("data") or {}).items():
            name = f"{secret['metadata']['namespace']}/{secret['metadata']['name']}:{key}"
            value = base64.b64decode(encoded)
            if key == _USER:
                continue
            if len(value) < SHORTEST:
                short.append(name)
            else:
                values.add(SecretValue(key, value))
    return values, short


def _pod_logs(layout: Layout) -> Path:
    return layout.state / "log" / "pods"


def _kubectl(env: Mapping[str, str], *args: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        ["kubectl", *args, "--output", "json"], env=dict(env), capture_output=True, text=True, check=True
    )
    items: list[dict[str, Any]] = json.loads(done.stdout)["items"]
    return items


def of_cluster(layout: Layout) -> tuple[str, list[str]]:
    """A summary of the search, and the found values. Raises LookupError when no value is known."""
    env = release.read_env(layout)
    there, short = in_secrets(env)
    values = there | registered(layout=layout)
    if not values:
        raise LookupError("no value of any Secret is known: nothing was searched")
    summary = f"searched for {len(values)} values of Secrets; too short to search for: {', '.join(short) or 'none'}"
    return summary, found(values, everywhere(env, layout))


def main() -> int:
    """Prints the found values and their places. Returns 1 if there are any, else 0."""
    summary, hits = of_cluster(Layout())
    print(summary)
    for hit in hits:
        print(f"FOUND {hit}", file=sys.stderr)
    return 1 if hits else 0


if __name__ == "__main__":
    sys.exit(main())
