"""Executors that their driver left behind: found by their labels, removed, and waited for by the whole operator."""

from __future__ import annotations

import json

from paimon_operator.core.ports import Kind
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, lake, provisioned
from tests.support import pods
from tests.support.manifests import edited, run
from tests.support.object_store import Json

CLUSTER = {"mode": "Cluster"}


async def compacting(operator: OperatorInMemory, **catalog: object) -> tuple[str, str]:
    """A compaction in mode Cluster is under way. Returns the names of its run and of its driver Pod."""
    await provisioned(operator)
    await operator.apply(lake(**{"spec__spark": CLUSTER} | catalog))
    await operator.apply(run())
    await operator.pass_time(minutes=2)
    (name,) = [name for name in operator.store.names(Kind.RUN) if name == run()["metadata"]["name"]]
    pod = next(each for each in operator.store.names(Kind.POD) if each.startswith(name))
    return name, pod


def left_behind(operator: OperatorInMemory, driver: str) -> str:
    """An executor of the driver that runs on."""
    body = pods.executor(1, of=driver)
    operator.store.put(edited(body, metadata__namespace=SHOP))
    return str(body["metadata"]["name"])


def found(operator: OperatorInMemory, kind: Kind, name: str) -> Json:
    return operator.store.peek(kind, SHOP, name) or {}


async def test_the_operator_makes_a_driver_with_executors_and_says_so(operator: OperatorInMemory) -> None:
    name, pod = await compacting(operator)
    where = found(operator, Kind.RUN, name)["status"]["spark"]
    assert (where["mode"], where["message"]) == ("Cluster", "mode Cluster (Catalog)")
    assert found(operator, Kind.POD, pod)["spec"]["serviceAccountName"] == "paimon-driver"
    data = found(operator, Kind.CONFIG_MAP, name)["data"]
    assert set(data) == {"job.json", "executor.json", "executors-may-use"}


async def test_a_catalog_with_the_pods_identity_keeps_its_account_where_cluster_is_asked_for(
    operator: OperatorInMemory,
) -> None:
    """The account of drivers that make executors would be refused by the storage, or be let in as its node."""
    spark = CLUSTER | {"serviceAccountName": "lake-spark"}
    name, pod = await compacting(operator, spec__spark=spark, spec__storage={"s3": {"region": "eu-central-1"}})
    assert found(operator, Kind.RUN, name)["status"]["spark"]["mode"] == "Local"
    assert found(operator, Kind.POD, pod)["spec"]["serviceAccountName"] == "lake-spark"
    assert set(found(operator, Kind.CONFIG_MAP, name)["data"]) == {"job.json"}


async def test_a_catalog_with_the_pods_identity_has_executors_by_an_account_of_its_own_drivers(
    operator: OperatorInMemory,
) -> None:
    spark = CLUSTER | {"serviceAccountName": "lake-spark", "driverServiceAccountName": "paimon-driver-lake"}
    name, pod = await compacting(operator, spec__spark=spark, spec__storage={"s3": {"region": "eu-central-1"}})
    assert found(operator, Kind.RUN, name)["status"]["spark"]["mode"] == "Cluster"
    assert found(operator, Kind.POD, pod)["spec"]["serviceAccountName"] == "paimon-driver-lake"
    executor = json.loads(found(operator, Kind.CONFIG_MAP, name)["data"]["executor.json"])
    assert executor["spec"]["serviceAccountName"] == "lake-spark"


async def test_no_attempt_follows_when_the_catalog_names_another_secret_than_the_executors_pod(
    operator: OperatorInMemory,
) -> None:
    name, pod = await compacting(operator)
    other = {"region": "us-east-1", "credentialsSecretRef": {"name": "other"}}
    await operator.apply(lake(spec__spark=CLUSTER, spec__storage={"s3": other}))
    await operator.end_pod(pod, exit_code=137)
    await operator.pass_time(minutes=5)
    status = found(operator, Kind.RUN, name)["status"]
    assert (status["phase"], len(status["attempts"])) == ("Failed", 1)


async def test_executors_of_a_lost_driver_go_before_the_next_attempt(operator: OperatorInMemory) -> None:
    name, pod = await compacting(operator)
    executor = left_behind(operator, pod)
    await operator.end_pod(pod, exit_code=137)
    await operator.pass_time(minutes=1)
    assert executor not in operator.store.names(Kind.POD)
    await operator.pass_time(minutes=5)
    assert len(found(operator, Kind.RUN, name)["status"]["attempts"]) == 2


async def test_executors_of_a_run_that_is_over_are_removed(operator: OperatorInMemory) -> None:
    name, pod = await compacting(operator)
    executor = left_behind(operator, pod)
    await operator.end_pod(pod)
    await operator.pass_time(minutes=1)
    assert executor not in operator.store.names(Kind.POD)
    assert found(operator, Kind.RUN, name)["metadata"].get("finalizers", []) == []
