"""Runs in mode Cluster: their accounts, and the deletion of executors that outlive their driver."""

from __future__ import annotations

import json

import pytest

from paimon_operator.core.ports import Kind
from paimon_operator.errors import NotFoundError
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, lake, provisioned
from tests.support import pods
from tests.support.manifests import edited, run
from tests.support.object_store import Fault, Json

CLUSTER = {"mode": "Cluster"}


async def start_compaction(operator: OperatorInMemory, **catalog: object) -> tuple[str, str]:
    """Starts a compaction in mode Cluster. Returns the names of its run and of its driver Pod."""
    await provisioned(operator, **{"spec__spark": CLUSTER} | catalog)
    await operator.apply(run())
    await operator.pass_time(minutes=2)
    (name,) = [name for name in operator.store.names(Kind.RUN) if name == run()["metadata"]["name"]]
    pod = next(each for each in operator.store.names(Kind.POD) if name in each)
    return name, pod


def add_executor(operator: OperatorInMemory, driver: str) -> str:
    """Adds a running executor of the driver. Returns its name."""
    body = pods.executor(1, of=driver)
    operator.store.put(edited(body, metadata__namespace=SHOP))
    return str(body["metadata"]["name"])


def stored(operator: OperatorInMemory, kind: Kind, name: str) -> Json:
    return operator.store.peek(kind, SHOP, name) or {}


async def test_a_run_in_mode_cluster_has_a_driver_with_executors_and_reports_the_mode(
    operator: OperatorInMemory,
) -> None:
    name, pod = await start_compaction(operator)
    spark = stored(operator, Kind.RUN, name)["status"]["spark"]
    assert (spark["mode"], spark["message"]) == ("Cluster", "mode Cluster (Catalog)")
    assert stored(operator, Kind.POD, pod)["spec"]["serviceAccountName"] == "paimon-driver"
    data = stored(operator, Kind.CONFIG_MAP, pod.rpartition("-")[0])["data"]
    assert set(data) == {"job.json", "executor.json"}
    rights = stored(operator, Kind.EXECUTOR_RIGHTS, pod.rpartition("-")[0])
    assert "serviceaccount/paimon-spark" in rights["spec"]["mayUse"]


async def test_a_catalog_with_the_identity_of_its_pods_keeps_its_account_and_mode_local(
    operator: OperatorInMemory,
) -> None:
    """With the account of drivers that create executors the storage would refuse it or identify it as its node."""
    spark = CLUSTER | {"serviceAccountName": "lake-spark"}
    name, pod = await start_compaction(operator, spec__spark=spark, spec__storage={"s3": {"region": "eu-central-1"}})
    assert stored(operator, Kind.RUN, name)["status"]["spark"]["mode"] == "Local"
    assert stored(operator, Kind.POD, pod)["spec"]["serviceAccountName"] == "lake-spark"
    assert set(stored(operator, Kind.CONFIG_MAP, pod.rpartition("-")[0])["data"]) == {"job.json"}


async def test_a_catalog_with_the_identity_of_its_pods_has_executors_with_a_driver_account(
    operator: OperatorInMemory,
) -> None:
    spark = CLUSTER | {"serviceAccountName": "lake-spark", "driverServiceAccountName": "paimon-driver-lake"}
    name, pod = await start_compaction(operator, spec__spark=spark, spec__storage={"s3": {"region": "eu-central-1"}})
    assert stored(operator, Kind.RUN, name)["status"]["spark"]["mode"] == "Cluster"
    assert stored(operator, Kind.POD, pod)["spec"]["serviceAccountName"] == "paimon-driver-lake"
    executor = json.loads(stored(operator, Kind.CONFIG_MAP, pod.rpartition("-")[0])["data"]["executor.json"])
    assert executor["spec"]["serviceAccountName"] == "lake-spark"


async def test_no_attempt_follows_after_the_catalog_changed_the_secret_of_the_executors(
    operator: OperatorInMemory,
) -> None:
    name, pod = await start_compaction(operator)
    other = {"region": "us-east-1", "credentialsSecretRef": {"name": "other"}}
    await operator.apply(lake(spec__spark=CLUSTER, spec__storage={"s3": other}))
    await operator.end_pod(pod, exit_code=137)
    await operator.pass_time(minutes=5)
    status = stored(operator, Kind.RUN, name)["status"]
    assert (status["phase"], len(status["attempts"])) == ("Failed", 1)


async def test_executors_of_a_lost_driver_are_deleted_before_the_next_attempt(operator: OperatorInMemory) -> None:
    name, pod = await start_compaction(operator)
    executor = add_executor(operator, pod)
    await operator.end_pod(pod, exit_code=137)
    await operator.pass_time(minutes=1)
    assert executor not in operator.store.names(Kind.POD)
    await operator.pass_time(minutes=5)
    assert len(stored(operator, Kind.RUN, name)["status"]["attempts"]) == 2


async def test_executors_of_a_finished_run_are_deleted(operator: OperatorInMemory) -> None:
    name, pod = await start_compaction(operator)
    executor = add_executor(operator, pod)
    await operator.end_pod(pod)
    await operator.pass_time(minutes=1)
    assert executor not in operator.store.names(Kind.POD)
    assert stored(operator, Kind.RUN, name)["metadata"].get("finalizers", []) == []


async def test_a_driver_comes_after_the_rights_of_its_executors(operator: OperatorInMemory) -> None:
    await start_compaction(operator)
    made = [request.kind for request in operator.store.writes if request.verb == "create"]
    assert made[-3:] == [Kind.CONFIG_MAP, Kind.EXECUTOR_RIGHTS, Kind.POD]


async def test_in_a_cluster_without_the_new_kind_a_run_with_executors_says_what_to_apply(
    operator: OperatorInMemory,
) -> None:
    """Helm leaves the CRDs of before with crds.install=false."""
    missing = Fault("create", Kind.EXECUTOR_RIGHTS, NotFoundError("404 page not found", status=404))
    operator.store.faults += [missing] * 2
    await provisioned(operator, spec__spark=CLUSTER)
    await operator.apply(run())
    await operator.pass_time(seconds=5)
    name = run()["metadata"]["name"]
    found = {each["reason"]: each["message"] for each in stored(operator, Kind.RUN, name)["status"]["conditions"]}
    assert "no namespace or no kind for PaimonExecutorRights" in found["NotPermitted"]
    assert "404 page not found. Apply the CRDs of this version" in found["NotPermitted"]
    await operator.pass_time(minutes=10)
    assert [pod for pod in operator.store.names(Kind.POD) if name in pod], "the CRD is applied, and the driver made"


@pytest.mark.parametrize("are_gone", [False, True], ids=["there", "gone"])
async def test_after_an_edit_the_next_attempt_uses_the_rights_of_the_first_one_or_none(
    operator: OperatorInMemory, *, are_gone: bool
) -> None:
    """The Pod that executors are made from is that of the first attempt: other rights would refuse each of them."""
    name, pod = await start_compaction(operator)
    rights = pod.rpartition("-")[0]
    first = stored(operator, Kind.EXECUTOR_RIGHTS, rights)
    if are_gone:
        operator.store.delete_as_user(Kind.EXECUTOR_RIGHTS, SHOP, rights)
    await operator.apply(lake(spec__spark={**CLUSTER, "podOverlay": {"labels": {"team": "shop"}}}))
    await operator.end_pod(pod, exit_code=30)
    await operator.pass_time(minutes=5)
    (condition,) = [
        each for each in stored(operator, Kind.RUN, name)["status"]["conditions"] if each["type"] == "Succeeded"
    ]
    if are_gone:
        assert condition["reason"] == "JobChanged"
        assert "PaimonExecutorRights" in condition["message"]
    else:
        assert stored(operator, Kind.EXECUTOR_RIGHTS, rights) == first
        assert f"{rights}-2" in operator.store.names(Kind.POD)
