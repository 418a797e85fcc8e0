"""A kubelet for a run in mode Cluster: driver and executors as processes in the environment of their Pods."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

from kubernetes.client.exceptions import NotFoundException

from paimon_contract.job import files_digest
from paimon_operator.core.naming import ROLE_LABEL
from tests.cluster.images.context import ENTRYPOINT
from tests.support.executor_namespace import ExecutorNamespace
from tests.support.pod_environment import container_environment
from tests.support.spark_home import SparkHome
from tests.support.spark_process import environment

_POLL_SECONDS = 0.3


class Kubelet:
    """Runs one driver and every executor that it creates, until `close`."""

    def __init__(self, ns: ExecutorNamespace, home: SparkHome, directory: Path) -> None:
        self.ns, self.home, self.directory = ns, home, directory
        self.executors: dict[str, subprocess.Popen[bytes]] = {}
        self.seen: dict[str, Any] = {}
        """Executor Pods by name, as the driver created them."""
        self.overrides: dict[str, str] = {}
        """Variables that replace those of the executors' Pods."""
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._driver: subprocess.Popen[bytes] | None = None

    @property
    def driver(self) -> subprocess.Popen[bytes]:
        assert self._driver is not None
        return self._driver

    def start_driver(self, data: dict[str, str], pod: Any, *, executors: bool = True) -> None:
        """Starts the driver's process. Without `executors` their Pods are never started."""
        run, access = self.directory / "run", self.directory / "access"
        for directory in (run, access):
            directory.mkdir()
        for name, text in data.items():
            (run / name).write_text(text, encoding="utf-8")
        (access / "token").write_text(self.ns.token(pod), encoding="utf-8")
        (access / "ca.crt").write_bytes(self.ns.server.authority.certificate.read_bytes())
        own = {
            **self._environment(pod, "127.0.0.1"),
            "JOB_DIGEST": files_digest(data),
            "API_ACCESS": str(access),
            "EXECUTOR_TEMPLATE": str(run / "executor.json"),
            "KUBERNETES_SERVICE_HOST": "127.0.0.1",
            "KUBERNETES_SERVICE_PORT": str(self.ns.server.port),
            "DRIVER_HEAP": "768m",
            "TMPDIR": str(self.directory),
        }
        with self.log("driver").open("w") as log:
            self._driver = subprocess.Popen(
                [str(ENTRYPOINT), "driver", str(run / "job.json")],
                env=environment(self.home, self.message, **own),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        if executors:
            self._thread = threading.Thread(target=self._serve)
            self._thread.start()

    @property
    def message(self) -> Path:
        return self.directory / "message"

    def result(self) -> dict[str, Any]:
        """Waits for the driver's end and returns its termination message."""
        self.driver.wait(timeout=900)
        assert self.message.exists(), self.log("driver").read_text()[-4000:]
        found: dict[str, Any] = json.loads(self.message.read_text(encoding="utf-8"))
        return found

    def log(self, name: str) -> Path:
        return self.directory / f"{name}.log"

    def pods(self) -> list[Any]:
        """The existing Pods of executors."""
        label = f"{ROLE_LABEL}=executor"
        found: list[Any] = self.ns.core.list_namespaced_pod(self.ns.namespace, label_selector=label).items
        return found

    def kill_driver(self) -> None:
        """Kills all processes of the driver, as the end of a container does. One signal leaves the JVM running."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.driver.pid, signal.SIGKILL)
        self.driver.wait()

    def close(self) -> None:
        self._closed.set()
        if self._thread is not None:
            self._thread.join()
        for process in self.executors.values():
            process.kill()
            process.wait()
        if self._driver is not None:
            self.kill_driver()

    def _serve(self) -> None:
        while not self._closed.wait(_POLL_SECONDS):
            pods = self.pods()
            for pod in pods:
                if pod.metadata.name not in self.executors:
                    self._start(pod)
            for name in self.executors.keys() - {pod.metadata.name for pod in pods}:
                self.executors[name].terminate()

    def _start(self, pod: Any) -> None:
        name = pod.metadata.name
        self.seen[name] = pod
        address = f"127.0.0.{len(self.seen) + 1}"
        scratch = self.directory / name
        scratch.mkdir()
        own = {**self._environment(pod, address), "TMPDIR": str(scratch), "SPARK_LOCAL_DIRS": str(scratch)}
        with self.log(name).open("w") as log:
            self.executors[name] = subprocess.Popen(
                [str(ENTRYPOINT), *pod.spec.containers[0].args],
                env=environment(self.home, scratch / "message", **{**own, **self.overrides}),
                stdout=log,
                stderr=log,
            )
        status = {"status": {"phase": "Running", "podIP": address}}
        with contextlib.suppress(NotFoundException):  # the driver may have ended meanwhile
            self.ns.core.patch_namespaced_pod_status(name, self.ns.namespace, status)

    def _environment(self, pod: Any, address: str) -> dict[str, str]:
        """The environment that a kubelet gives to the Pod's container."""
        fields = {"status.podIP": address, "metadata.name": pod.metadata.name}
        found = container_environment(self.ns.core, pod, fields)
        return {**{key: value for key, value in os.environ.items() if key.startswith("LC_")}, **found}
