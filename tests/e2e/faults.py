"""The faults that tests inject while a run of a table is active.

A fault is prepared, then injected once. The injection lasts as long as the fault.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Final

from tests.cluster.hdfs import on_node
from tests.cluster.layout import Layout
from tests.cluster.node import Cluster
from tests.e2e.hdfs_lab import HdfsLab
from tests.e2e.kills import OPERATOR_LABEL, OPERATOR_NAMESPACE, kill_operator
from tests.e2e.lab import Lab
from tests.e2e.outages import DedicatedS3, dedicated_s3_of, without_datanode
from tests.support.executor_namespace import account_objects
from tests.support.kubectl import Kubectl, Object

STORAGE_OUTAGE_S: Final = 30
API_SERVER_OUTAGE_S: Final = 20
EXECUTORS: Final = "paimon-operator.dev/role=executor"
DRIVERS: Final = "paimon-operator.dev/role!=executor"
SPARK: Final[dict[str, Any]] = {
    "mode": "Cluster",
    "driver": {"cores": 1, "memory": "1536Mi"},
    "executor": {"instances": 2, "cores": 1, "memory": "1Gi"},
}
_PATIENCE_S: Final = 180

Injection = Callable[[str], bool]
"""Takes the table's name; returns whether there was a target."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One kind of fault."""

    name: str
    prepared: Callable[[Lab], AbstractContextManager[Injection]]
    attempts: int
    """Most attempts that a run may need: 1 where the driver is not touched."""
    place: Callable[[Lab], AbstractContextManager[Lab]] = nullcontext
    """Where the table is, once for all its runs: what is special about the catalog."""
    own_node: bool = False
    """Whether it hits the whole node, so that it takes one on which no other test is."""
    group: str = ""
    """Tests that may not run meanwhile, because they share a server with it."""


@contextmanager
def _driver_deleted(lab: Lab) -> Iterator[Injection]:
    """Deletes a driver's Pod, if necessary after a wait for it."""

    def inject(table: str) -> bool:
        return _delete(lab, f"paimon-operator.dev/table={table},{DRIVERS}")

    yield inject


def _delete(lab: Lab, selector: str) -> bool:
    """Deletes one running Pod of the selection. Returns False after a time-out: the run can end before it has one."""
    try:
        pods = lab.kubectl.until_list("pod", selector, _living, what="alive", seconds=_PATIENCE_S)
    except AssertionError:
        return False
    lab.kubectl.delete("pod", _living(pods)[0]["metadata"]["name"])
    return True


def _living(pods: list[Object]) -> list[Object]:
    return [pod for pod in pods if pod["status"].get("phase") in ("Pending", "Running")]


@contextmanager
def _with_executors(lab: Lab) -> Iterator[Lab]:
    """Gives every run two executors, with the accounts that the chart creates in a workload namespace."""
    lab.kubectl.apply(*account_objects(lab.namespace))
    lab.kubectl.apply(lab.catalog(spark=SPARK))
    yield lab


@contextmanager
def _executor_deleted(lab: Lab) -> Iterator[Injection]:
    """Deletes an executor's Pod, if necessary after a wait for it."""

    def inject(table: str) -> bool:
        return _delete(lab, f"paimon-operator.dev/table={table},{EXECUTORS}")

    yield inject


@contextmanager
def _operator_killed(lab: Lab) -> Iterator[Injection]:
    def inject(_: str) -> bool:
        return kill_operator(lab.kubectl) > 0

    yield inject


@contextmanager
def _kubelet_restarted(lab: Lab) -> Iterator[Injection]:
    def inject(_: str) -> bool:
        Cluster(lab.layout).restart_kubelet()
        return True

    yield inject


@contextmanager
def _s3_stopped(lab: Lab) -> Iterator[Injection]:
    def inject(_: str) -> bool:
        with DedicatedS3.of(lab).outage():
            time.sleep(STORAGE_OUTAGE_S)  # the duration of the outage
        return True

    yield inject


@contextmanager
def _on_dedicated_s3(lab: Lab) -> Iterator[Lab]:
    """Moves the catalog to an S3 server of its own, before a run has reached the other one: later it cannot move."""
    with dedicated_s3_of(lab):
        yield lab


@contextmanager
def _on_hdfs(lab: Lab) -> Iterator[Lab]:
    """Yields a lab in the same namespace whose catalog is on the node's HDFS."""
    hdfs = on_node.start(Layout(), on_node.SIMPLE)
    moved = HdfsLab(kubectl=lab.kubectl, env=lab.env, engine=lab.engine, hdfs=hdfs)
    lab.kubectl.delete("paimoncatalog", "lake", wait=True)  # the warehouse of an existing catalog is immutable
    lab.kubectl.apply(*moved.surroundings(), moved.catalog())
    yield moved


@contextmanager
def _datanode_stopped(lab: Lab) -> Iterator[Injection]:
    def inject(_: str) -> bool:
        with without_datanode(on_node.hdfs_of(Layout(), on_node.SIMPLE)):
            time.sleep(STORAGE_OUTAGE_S)  # the duration of the outage
        return True

    yield inject


@contextmanager
def _api_server_stopped(lab: Lab) -> Iterator[Injection]:
    _replace_restarted_operator(lab)

    def inject(_: str) -> bool:
        cluster = Cluster(lab.layout)
        cluster.stop_service("kube-apiserver")
        try:
            time.sleep(API_SERVER_OUTAGE_S)  # the duration of the outage
        finally:
            cluster.start_service("kube-apiserver")
        return True

    yield inject


def _replace_restarted_operator(lab: Lab) -> None:
    """Replaces an operator's Pod that has restarted, because the kubelet's backoff would delay its next container."""
    system = Kubectl(namespace=OPERATOR_NAMESPACE, env=lab.env)
    for pod in system.list("pod", OPERATOR_LABEL):
        if any(status["restartCount"] for status in pod["status"].get("containerStatuses", [])):
            system.delete("pod", pod["metadata"]["name"], wait=True)
    system.until("lease", "paimon-operator", lambda lease: _is_led(system, lease), what="held by a living operator")


def _is_led(system: Kubectl, lease: Object | None) -> bool:
    holder = ((lease or {}).get("spec") or {}).get("holderIdentity", "").partition("_")[0]
    return holder in {pod["metadata"]["name"] for pod in system.list("pod", OPERATOR_LABEL)}


FAULTS = (
    Fault(name="driver Pod deleted", prepared=_driver_deleted, attempts=2),
    Fault(name="executor deleted", prepared=_executor_deleted, attempts=1, place=_with_executors),
    Fault(name="operator killed", prepared=_operator_killed, attempts=1, own_node=True),
    Fault(name="S3 server stopped for 30 s", prepared=_s3_stopped, attempts=3, place=_on_dedicated_s3),
    Fault(name="DataNode stopped for 30 s", prepared=_datanode_stopped, attempts=3, place=_on_hdfs, group="hdfs"),
    Fault(name="kubelet restarted", prepared=_kubelet_restarted, attempts=1, own_node=True),
    Fault(name="API server stopped for 20 s", prepared=_api_server_stopped, attempts=1, own_node=True),
)
