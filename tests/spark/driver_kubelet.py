"""A kubelet for the driver Pods of an operator: it performs each Pod's job in real Spark and reports how it ended.

One JVM performs all jobs with the same keys of S3, because the JVM reads them from the environment of its process.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paimon_contract.documents import to_text
from tests.apiserver.namespace_client import NamespaceClient
from tests.apiserver.pod import Pod
from tests.support.pod_environment import container_environment
from tests.support.spark_process import Worker

_POLL_SECONDS = 0.3
_OF_THE_JVM = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
_OF_ITS_SIZE = ("DRIVER_HEAP", "DRIVER_JIT", "DRIVER_DEADLINE_S")
"""Variables by which the entrypoint starts a JVM. The shared JVM has its own size."""


class Drivers:
    """Performs the jobs of all kubelets, one at a time. `start(log, **env)` starts a JVM."""

    def __init__(self, start: Callable[..., Worker], directory: Path) -> None:
        self._start, self._directory = start, directory
        self._workers: dict[tuple[tuple[str, str], ...], Worker] = {}
        self._turn = threading.Lock()
        self.keys = f"AK{secrets.token_hex(9).upper()}", secrets.token_urlsafe(30)
        """Keys for the S3 servers of one story, so that one JVM performs all its jobs."""

    def perform(self, job: Path, environment: dict[str, str]) -> tuple[dict[str, Any], int]:
        """Performs the job file in the environment of its Pod. Returns the result document and the exit code."""
        keys = tuple((name, environment[name]) for name in _OF_THE_JVM if name in environment)
        own = {name: value for name, value in environment.items() if name not in (*_OF_THE_JVM, *_OF_ITS_SIZE)}
        with self._turn:
            if keys not in self._workers:
                log = self._directory / f"worker-{len(self._workers)}.log"
                self._workers[keys] = self._start(log, **dict(keys))
            result, code = self._workers[keys].ask(job=str(job), environment=own)
        return result, code

    def stop(self) -> None:
        """Ends all JVMs."""
        for worker in self._workers.values():
            worker.stop()


class DriverKubelet:
    """Runs every driver Pod of a namespace inside a `with` block. The end of the block raises what went wrong."""

    def __init__(self, ns: NamespaceClient, drivers: Drivers, directory: Path) -> None:
        self._ns, self._drivers, self._directory = ns, drivers, directory
        self._closed = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> DriverKubelet:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _serve(self) -> None:
        try:
            while not self._closed.wait(_POLL_SECONDS):
                for pod in self._ns.pods():
                    if pod.is_active:
                        self._run(pod)
        except Exception as error:  # noqa: BLE001  (raised again in the thread of the test)
            self._failure = error

    def _run(self, pod: Pod) -> None:
        """Performs the frozen job of the Pod, as its container does, and stores the end in the Pod's status."""
        self._ns.run_pod(pod)
        files = self._ns.core.read_namespaced_config_map(pod.config_map, self._ns.namespace).data or {}
        volume = self._directory / pod.name
        volume.mkdir(parents=True)
        for name, text in files.items():
            (volume / name).write_text(text, encoding="utf-8")
        model = self._ns.core.read_namespaced_pod(pod.name, self._ns.namespace)
        fields = {"status.podIP": "127.0.0.1", "metadata.name": pod.name}
        variables = container_environment(self._ns.core, model, fields)
        result, code = self._drivers.perform(volume / "job.json", variables)
        self._ns.end_pod(pod, exit_code=code, message=to_text(result))
