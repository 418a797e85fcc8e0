"""The cluster's cgroup. It holds kubelet's pods and the cluster's processes, so that `down` finds all of them.

Works on cgroup v1 (one tree per controller) and v2 (one tree).
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

from tests.cluster.processes import wait_until

_MOUNT = Path("/sys/fs/cgroup")
_V2_CONTROLLERS = "+cpuset +cpu +memory +pids"
_CPU_WEIGHT = 4
"""CPU weight of all pods together, as a multiple of one process outside. With the kernel's default, 1, all pods
together get as much CPU as one JVM of the tests that run beside them."""


def _unified() -> bool:
    return (_MOUNT / "cgroup.controllers").exists()


def _trees() -> list[Path]:
    """Returns the root of each hierarchy; kubelet wants its root cgroup in all of them."""
    if _unified():
        return [_MOUNT]
    return sorted({path.resolve() for path in _MOUNT.iterdir() if path.is_dir()})


def _process_tree(name: str) -> Path:
    return (_MOUNT if _unified() else _MOUNT / "pids") / name


def daemons_file(name: str) -> Path:
    """Returns the file that a process writes its pid into to join the cluster's cgroup."""
    return _process_tree(name) / "daemons" / "cgroup.procs"


def create(name: str) -> None:
    """Makes the cgroup `name` in every hierarchy."""
    for tree in _trees():
        (tree / name).mkdir(exist_ok=True)
    if _unified():
        for parent in (_MOUNT, _MOUNT / name):
            (parent / "cgroup.subtree_control").write_text(_V2_CONTROLLERS)
        (_MOUNT / name / "cpu.weight").write_text(str(100 * _CPU_WEIGHT))
    else:
        (_MOUNT / "cpu" / name / "cpu.shares").write_text(str(1024 * _CPU_WEIGHT))
    daemons_file(name).parent.mkdir(exist_ok=True)


def members(name: str) -> list[int]:
    """Returns the pids of every process the cluster started, pods included."""
    tree = _process_tree(name)
    return [int(pid) for file in tree.rglob("cgroup.procs") for pid in file.read_text().split()]


def exists(name: str) -> bool:
    """Returns whether the cgroup is left in any hierarchy."""
    return any((tree / name).exists() for tree in _trees())


def destroy(name: str) -> None:
    """Kills what still runs in the cgroup, pid by pid, and removes it; raises TimeoutError when something stays."""
    if not wait_until(lambda: not _kill_members(name), timeout=20):
        raise TimeoutError(f"processes {members(name)} of cgroup {name} do not end, not even by SIGKILL")
    for tree in _trees():
        for directory in _deepest_first(tree / name):
            directory.rmdir()


def _kill_members(name: str) -> list[int]:
    pids = members(name)
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue  # ended between the listing and the signal
    return pids


def _deepest_first(directory: Path) -> Iterator[Path]:
    if directory.is_dir():
        yield from sorted((path for path in directory.rglob("*") if path.is_dir()), key=lambda p: -len(p.parts))
        yield directory
