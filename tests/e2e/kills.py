"""Signals to processes in the node's containers, which are found on this machine by their environment."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

from paimon_contract.turns import job_variable
from tests.support.kubectl import Kubectl, Object

OPERATOR_NAMESPACE = "paimon-system"
OPERATOR_LABEL = "app.kubernetes.io/name=paimon-operator"


def _processes_with(name: str, value: str) -> Iterator[int]:
    wanted = f"{name}={value}".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):  # a process can end during the search
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    yield int(entry.name)


def _send(pids: Iterator[int], which: signal.Signals) -> int:
    reached = 0
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, which)
            reached += 1
    return reached


def _kill(pids: Iterator[int]) -> int:
    return _send(pids, signal.SIGKILL)


def kill_container(pod: str) -> int:
    """Kills the operator's process in this Pod. The kubelet restarts the container."""
    return _kill(_processes_with("POD_NAME", pod))


@contextlib.contextmanager
def driver_held(run_name: str) -> Iterator[None]:
    """Stops the run's driver for the duration of the block."""
    assert _send(_processes_with("RUN_NAME", run_name), signal.SIGSTOP) > 0, f"no driver of {run_name} is at work"
    try:
        yield
    finally:
        _send(_processes_with("RUN_NAME", run_name), signal.SIGCONT)


def kill_operator(kubectl: Kubectl) -> int:
    """Kills the operator's process and deletes its Pod, so that the next one starts at once.

    The kubelet would delay the second restart within ten minutes by its backoff.
    """
    system = Kubectl(namespace=OPERATOR_NAMESPACE, env=kubectl.env)
    killed = 0
    for pod in system.list("pod", OPERATOR_LABEL):
        if here := kill_container(pod["metadata"]["name"]):
            system.delete("pod", pod["metadata"]["name"], force=True)
        killed += here
    return killed


def kill_driver(run_name: str) -> int:
    """Kills every process (shell, Python, JVM) of the run's driver Pod."""
    return _kill(_processes_with("RUN_NAME", run_name))


def kill_shared_driver(pod: Object) -> int:
    """Kills every process of a Pod that several runs share. Its first job is in no other Pod."""
    variables = {each["name"]: each.get("value") for each in pod["spec"]["containers"][0]["env"]}
    job = job_variable(0)
    return _kill(_processes_with(job, variables[job]))
