"""A driver gets the operator's job or none: what others write under the name of a run's ConfigMap starts nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from paimon_contract.job import files_digest
from paimon_operator.core import naming
from paimon_operator.core.ports import Kind
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, lake, orders, provisioned, shop
from tests.support.manifests import Manifest, run

FORGED = {"job.json": json.dumps({"operation": "Drop"})}
Json = dict[str, Any]


def by_hand() -> Manifest:
    return shop(run(metadata__name="by-hand"))


def run_status(operator: OperatorInMemory, name: str) -> Json:
    status: Json = (operator.store.peek(Kind.RUN, SHOP, name) or {})["status"]
    return status


def succeeded(operator: OperatorInMemory, name: str) -> Json:
    (found,) = (each for each in run_status(operator, name)["conditions"] if each["type"] == "Succeeded")
    return dict(found)


async def waiting(operator: OperatorInMemory) -> Manifest:
    """A user's run that waits for its place behind the table's Provision; its ConfigMap is not written yet."""
    await operator.apply(lake(), orders(), by_hand())
    body = operator.store.peek(Kind.RUN, SHOP, "by-hand")
    assert body is not None
    return body


def config_map(name: str, of: Manifest | None, data: Json, *, immutable: bool = True) -> Manifest:
    """A ConfigMap as everyone who may create ConfigMaps can write it, with the run's own UID as controller."""
    owner = [] if of is None else [{"apiVersion": of["apiVersion"], "kind": of["kind"], "name": of["metadata"]["name"],
                                    "uid": of["metadata"]["uid"], "controller": True}]  # fmt: skip
    metadata = {"name": name, "namespace": SHOP, "ownerReferences": owner}
    metadata["managedFields"] = [{"manager": "kubectl-create", "time": "2026-11-21T08:00:00Z"}]
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data, "immutable": immutable}


def name_of_config_map(operator: OperatorInMemory, pod: str) -> str:
    volumes = (operator.store.peek(Kind.POD, SHOP, pod) or {})["spec"]["volumes"]
    return str(next(each["configMap"]["name"] for each in volumes if "configMap" in each))


def digest_of_pod(operator: OperatorInMemory, pod: str) -> str:
    container = (operator.store.peek(Kind.POD, SHOP, pod) or {})["spec"]["containers"][0]
    return str(next(each["value"] for each in container["env"] if each["name"] == "JOB_DIGEST"))


async def test_the_pod_has_the_digest_of_its_config_map(operator: OperatorInMemory) -> None:
    await operator.apply(lake(), orders())
    (pod,) = operator.store.names(Kind.POD)
    found = operator.store.peek(Kind.CONFIG_MAP, SHOP, name_of_config_map(operator, pod))
    assert found is not None
    assert digest_of_pod(operator, pod) == files_digest(found["data"])
    assert found["immutable"] is True


async def test_a_forged_config_map_with_the_runs_uid_starts_no_pod(operator: OperatorInMemory) -> None:
    """S2: with `create configmaps` and a run that waits behind another one, the forged job was what the Pod mounted."""
    waits = await waiting(operator)
    forged = config_map(config_map_name(operator, "by-hand"), waits, FORGED)
    await operator.apply(forged)
    (pod,) = operator.store.names(Kind.POD)
    await operator.end_pod(pod, created=True)
    await operator.pass_time(minutes=2)
    assert operator.store.names(Kind.POD) == [pod]
    condition = succeeded(operator, "by-hand")
    assert (condition["status"], condition["reason"]) == ("False", "JobChanged")
    assert "is not the one that the operator wrote; it was last written by kubectl-create" in condition["message"]
    assert operator.condition("Ready")[0] == "True"


async def test_a_config_map_that_its_writer_can_still_change_is_not_used(operator: OperatorInMemory) -> None:
    """The digest is right when the operator compares it; a mutable ConfigMap would be another one afterwards."""
    await operator.apply(lake(), orders())
    (pod,), (name,) = operator.store.names(Kind.POD), operator.store.names(Kind.RUN)
    written = operator.store.peek(Kind.CONFIG_MAP, SHOP, config_map_name(operator, name))
    assert written is not None
    operator.store.put({**written, "immutable": False})
    await operator.end_pod(pod, exit_code=30)
    await operator.pass_time(minutes=2)
    assert succeeded(operator, name)["reason"] == "JobChanged"


async def test_a_config_map_that_was_replaced_between_two_attempts_ends_the_run(operator: OperatorInMemory) -> None:
    """With `delete` and `create` on ConfigMaps; the next run writes a job of its own."""
    await operator.apply(lake(), orders())
    (pod,), (name,) = operator.store.names(Kind.POD), operator.store.names(Kind.RUN)
    job, owner = config_map_name(operator, name), operator.store.peek(Kind.RUN, SHOP, name)
    operator.store.delete_as_user(Kind.CONFIG_MAP, SHOP, job)
    await operator.apply(config_map(job, owner, FORGED))
    await operator.end_pod(pod, exit_code=30)
    await operator.pass_time(minutes=2)
    assert succeeded(operator, name)["reason"] == "JobChanged"
    await operator.pass_time(hours=1)
    (another,) = set(operator.store.names(Kind.RUN)) - {name}
    await operator.end_pod(f"{another}-1", created=True)
    assert operator.condition("Ready")[0] == "True"


async def test_a_config_map_that_is_gone_is_not_written_from_an_edited_manifest(operator: OperatorInMemory) -> None:
    await provisioned(operator)
    await operator.apply(by_hand())
    first = next(name for name in operator.store.names(Kind.POD) if "by-hand" in name)
    operator.store.delete_as_user(Kind.CONFIG_MAP, SHOP, name_of_config_map(operator, first))
    await operator.apply(lake(spec__spark={"sparkConf": {"spark.sql.shuffle.partitions": "3"}}))
    await operator.end_pod(first, exit_code=30)
    await operator.pass_time(minutes=2)
    condition = succeeded(operator, "by-hand")
    assert (condition["status"], condition["reason"]) == ("False", "JobChanged")
    assert "is gone, and the manifest was edited since it was written" in condition["message"]


async def test_an_edit_between_two_attempts_keeps_the_first_job(operator: OperatorInMemory) -> None:
    await provisioned(operator)
    await operator.apply(by_hand())
    first = next(name for name in operator.store.names(Kind.POD) if "by-hand" in name)
    await operator.apply(lake(spec__spark={"sparkConf": {"spark.sql.shuffle.partitions": "3"}}))
    await operator.end_pod(first, exit_code=30)
    await operator.pass_time(minutes=2)
    (second,) = (name for name in operator.store.names(Kind.POD) if "by-hand" in name and name != first)
    assert digest_of_pod(operator, second) == digest_of_pod(operator, first)


@pytest.mark.parametrize(
    ("owned", "who"), [(False, "has no owner"), (True, "belongs to PaimonTable orders")], ids=["nobody's", "another's"]
)
async def test_the_message_says_who_took_the_name(operator: OperatorInMemory, owned: bool, who: str) -> None:
    await waiting(operator)
    owner = operator.table() if owned else None
    await operator.apply(config_map(config_map_name(operator, "by-hand"), owner, {"app": "1"}))
    (pod,) = operator.store.names(Kind.POD)
    await operator.end_pod(pod, created=True)
    await operator.pass_time(minutes=2)
    condition = succeeded(operator, "by-hand")
    assert condition["reason"] == "NameTaken"
    assert f"exists already and {who}; it was last written by kubectl-create" in condition["message"]


async def test_a_driver_that_finds_another_job_ends_its_run_with_job_changed(operator: OperatorInMemory) -> None:
    await provisioned(operator)
    await operator.apply(by_hand())
    pod = next(name for name in operator.store.names(Kind.POD) if "by-hand" in name)
    status = {"exitCode": 26, "message": "the job in /etc/paimon-run is not the one that the operator wrote"}
    terminated = [{"name": "driver", "state": {"terminated": status}}]
    operator.store.set_status(Kind.POD, SHOP, pod, {"phase": "Failed", "containerStatuses": terminated})
    await operator.settle()
    condition = succeeded(operator, "by-hand")
    assert (condition["status"], condition["reason"]) == ("False", "JobChanged")
    assert "is not the one that the operator wrote" in condition["message"]


def config_map_name(operator: OperatorInMemory, name: str) -> str:
    """The ConfigMap of a run, by its status or, before its first attempt, as the operator will name it."""
    job = run_status(operator, name).get("job")
    return str(job["configMap"]) if job else naming.config_map_name(name, by_user=name == "by-hand")
