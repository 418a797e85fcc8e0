"""`entrypoint.sh executor` serves the driver that made its Pod: real API server, driver and executor; no kubelet.

The test does what a kubelet would: reads the Pod, starts its process with the Pod's environment, and says that it runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config

from spark_apps.engine import Engine
from tests.cluster.apiserver import USUAL_CONTROLLERS, ApiServer
from tests.cluster.processes import wait_until
from tests.support import lake_reader
from tests.support.spark_process import ENTRYPOINT, environment, image_home

DRIVER = Path(__file__).parents[1] / "support" / "spark_with_executor.py"
RIGHTS = ["get", "list", "watch", "create", "delete", "deletecollection"]


@pytest.fixture
def core(tmp_path: Path) -> Iterator[tuple[client.CoreV1Api, ApiServer]]:
    with ApiServer(tmp_path / "api", controllers=USUAL_CONTROLLERS) as server:
        api = config.new_client_from_config(str(server.kubeconfig))
        yield client.CoreV1Api(api), server


def driver_account(core: client.CoreV1Api) -> str:
    """A token of the account `driver`, which may touch Pods and nothing else."""
    rbac = client.RbacAuthorizationV1Api(core.api_client)
    core.create_namespaced_service_account("default", {"metadata": {"name": "driver"}})
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": RIGHTS}
    rbac.create_namespaced_role("default", {"metadata": {"name": "driver"}, "rules": [rule]})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "driver"}
    subject = {"kind": "ServiceAccount", "name": "driver", "namespace": "default"}
    rbac.create_namespaced_role_binding(
        "default", {"metadata": {"name": "driver"}, "roleRef": role, "subjects": [subject]}
    )
    answer = core.create_namespaced_service_account_token("driver", "default", {"spec": {}})
    token: str = answer.status.token
    return token


def pod_environment(pod: Any) -> dict[str, str]:
    """The environment that a kubelet would give to the Pod's one container."""
    fields = {"status.podIP": "127.0.0.1", "metadata.name": pod.metadata.name}
    (container,) = pod.spec.containers
    assert container.args == ["executor"]
    return {
        each.name: each.value or fields[each.value_from.field_ref.field_path]
        for each in container.env
        if each.value or each.value_from
    }


def test_an_executor_does_the_work_of_the_driver_that_made_its_pod(
    engine: Engine, jars: Path, core: tuple[client.CoreV1Api, ApiServer], tmp_path: Path
) -> None:
    api, server = core
    token = tmp_path / "token"
    token.write_text(driver_account(api))
    warehouse = (tmp_path / "warehouse").as_uri()
    class_path = ":".join(str(jar) for jar in sorted(jars.glob("*.jar")))
    driver = subprocess.Popen(
        [sys.executable, str(DRIVER), server.url, str(token), str(server.authority.certificate), warehouse],
        env={
            **os.environ,
            "PYSPARK_SUBMIT_ARGS": f"--driver-class-path {class_path} --driver-memory 1g pyspark-shell",
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
        },
        stdout=subprocess.PIPE,
        stderr=(tmp_path / "driver.log").open("w"),
        text=True,
    )
    executor: subprocess.Popen[bytes] | None = None
    try:
        assert wait_until(lambda: bool(api.list_namespaced_pod("default").items), timeout=120, interval=0.5)
        (pod,) = api.list_namespaced_pod("default").items
        own = environment(image_home(engine, jars, tmp_path), tmp_path / "unused", **pod_environment(pod))
        with (tmp_path / "executor.log").open("w") as log:
            executor = subprocess.Popen(
                [str(ENTRYPOINT), "executor"], env={**own, "TMPDIR": str(tmp_path)}, stdout=log, stderr=log
            )
        running = {"status": {"phase": "Running", "podIP": "127.0.0.1"}}
        api.patch_namespaced_pod_status(pod.metadata.name, "default", running)
        output, _ = driver.communicate()
        assert driver.returncode == 0, (tmp_path / "driver.log").read_text()[-3000:]
        assert json.loads(output.splitlines()[-1]) == {"executors": ["1"], "rows": 1000}
        assert executor.wait(timeout=60) == 0, (tmp_path / "executor.log").read_text()[-3000:]
    finally:
        for process in filter(None, (driver, executor)):
            process.kill()
            process.wait()
    assert len(lake_reader.read_rows(warehouse, "default", "t")) == 1000
