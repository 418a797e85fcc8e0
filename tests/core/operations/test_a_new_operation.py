"""A new operation needs only its own files: one for the operator, one for the contract, one for Spark."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import yaml

import paimon_contract.parameters
import spark_apps.operations
from paimon_operator.core import operations
from paimon_operator.core.operations import registry
from paimon_operator.core.ports import Kind
from paimon_operator.generate.crd import RESOURCES, definition
from paimon_operator.generate.run_types import chart_values
from spark_apps.driver import main as driver
from spark_apps.driver.dispatch import read_job
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, provisioned
from tests.support import builders
from tests.support.object_store import ObjectStore
from tests.support.virtual_time import VirtualTime

OPERATOR_SIDE = '''
from paimon_contract.parameters.create_tag import CreateTagParameters
from paimon_operator.api.base import ApiModel, MemberName
from paimon_operator.api.run.spec import member_of
from paimon_operator.api.run.status import RunTrigger
from paimon_operator.core.operations.base import DueRun
from paimon_operator.core.operations.operation import OperationSpec, RunMember, RunTarget


class CreateTagRun(ApiModel):
    """The tag to create."""

    name: MemberName
    """Name of the tag."""


class UsersTag:
    def requested(self, run, created):
        return DueRun(type_="CreateTag", subject=target(run).subject, trigger=RunTrigger.USER, due=created, run=run)


def target(run):
    return RunTarget(member_of(run.spec, "createTag", CreateTagRun).name)


def job(context, run):
    return CreateTagParameters(name=target(run).subject, table=context.spec.database)


OPERATION = OperationSpec(
    type="CreateTag",
    order=60,
    on_demand=UsersTag(),
    member=RunMember(field="createTag", model=CreateTagRun, of_subject=lambda name: {"name": name}),
    target=target,
    job=job,
    summary=lambda result: f"the tag holds snapshot {result.after.snapshot_id}",
)
'''
CONTRACT = """
from dataclasses import dataclass

from paimon_contract.documents import Document


@dataclass(frozen=True)
class CreateTagParameters(Document):
    name: str
    table: str
"""
SPARK_SIDE = """
from paimon_contract.parameters.create_tag import CreateTagParameters
from paimon_contract.result import Outcome, ResultMeasure

PARAMETERS = CreateTagParameters


def run(job, session):
    session.tags[job.parameters_as(PARAMETERS).name] = 7
    return Outcome(after=ResultMeasure(snapshot_id=7))
"""
FILES = {
    "operator/versions/__init__.py": "",
    "operator/versions/create_tag.py": OPERATOR_SIDE,
    "contract/create_tag.py": CONTRACT,
    "spark/create_tag.py": SPARK_SIDE,
}
TAGGED: dict[str, Any] = {"type": "CreateTag", "createTag": {"name": "release-7"}, "compact": None}


@pytest.fixture(autouse=True)
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Adds the files to the packages and discovers the operations again, as at the start of a process."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    packages: dict[str, ModuleType] = {
        "operator": operations, "contract": paimon_contract.parameters, "spark": spark_apps.operations
    }  # fmt: skip
    for folder, package in packages.items():
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path / folder)])
    before = set(sys.modules)
    importlib.invalidate_caches()
    monkeypatch.setattr(registry, "OPERATIONS", registry.discover([operations]))
    yield
    for module in set(sys.modules) - before:
        if "create_tag" in module or module.endswith(".versions"):
            del sys.modules[module]


def schema(kind: str) -> dict[str, Any]:
    (resource,) = (each for each in RESOURCES if each.kind == kind)
    found: dict[str, Any] = definition(resource)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    return found


def test_the_crds_accept_the_operation() -> None:
    spec = schema("PaimonRun")["spec"]
    assert spec["properties"]["type"]["enum"][-1] == "CreateTag"
    assert (
        "Users may create ExpirePartitions, MarkPartitionsDone, Compact, ExpireSnapshots, CompactManifests, Analyze,"
        " RemoveOrphanFiles, Observe, Describe and CreateTag;" in spec["properties"]["type"]["description"]
    )
    assert spec["properties"]["createTag"]["required"] == ["name"]
    rules = [each["rule"] for each in spec["x-kubernetes-validations"]]
    assert "(self.type == 'CreateTag') == has(self.createTag)" in rules
    assert (
        "has(self.trigger) || self.type in"
        " ['ExpirePartitions', 'MarkPartitionsDone', 'Compact', 'ExpireSnapshots', 'CompactManifests', 'Analyze',"
        " 'RemoveOrphanFiles', 'Observe', 'Describe', 'CreateTag']" in rules
    )
    assert schema("PaimonTable")["status"]["properties"]["activeRun"]["properties"]["type"]["enum"][-1] == "CreateTag"


def test_the_chart_grants_the_verb_of_the_operation_and_reserves_its_names() -> None:
    listed = yaml.safe_load(chart_values(registry.OPERATIONS))
    assert listed["types"][-1] == "CreateTag"
    assert listed["onDemand"][-1] == "CreateTag"


async def test_a_users_run_goes_from_plan_over_job_driver_and_outcome_into_the_history(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    time = VirtualTime()
    operator = await OperatorInMemory(store=ObjectStore(time), time=time).start()
    await provisioned(operator)
    known = set(operator.store.names(Kind.POD))
    run = builders.run_manifest("tag-it", **TAGGED)
    run["spec"].pop("compact", None)
    await operator.apply(run)

    table = operator.store.peek(Kind.TABLE, SHOP, "orders") or {}
    assert table["status"]["activeRun"]["type"] == "CreateTag"
    assert table["status"]["activeRun"]["subject"] == "release-7"
    (pod,) = set(operator.store.names(Kind.POD)) - known

    tags: dict[str, int] = {}
    monkeypatch.setattr(driver, "new_session", lambda *_: a_session(tags))
    document, code = driver.perform(read_job(job_of(operator, "tag-it")))
    assert (code, tags, document["operation"]) == (0, {"release-7": 7}, "CreateTag")

    await operator.end_pod(
        pod, **{key: value for key, value in document.items() if key not in {"run", "operation", "ok", "version"}}
    )
    ended = (operator.store.peek(Kind.RUN, SHOP, "tag-it") or {})["status"]
    succeeded = next(each for each in ended["conditions"] if each["type"] == "Succeeded")
    assert (ended["phase"], succeeded["message"]) == ("Succeeded", "the tag holds snapshot 7")
    assert ended["after"]["snapshotId"] == 7
    assert ended["spark"]["message"] == "CreateTag has no work for executors"
    after = (operator.store.peek(Kind.TABLE, SHOP, "orders") or {})["status"]
    assert "activeRun" not in after
    assert "tag-it" in operator.store.names(Kind.RUN), "kubectl get paimonruns is the history"


def a_session(tags: dict[str, int]) -> SimpleNamespace:
    """A session without a JVM for a table that does not exist yet."""
    nothing = SimpleNamespace(release_stale_locks=lambda _: None)
    return SimpleNamespace(
        tags=tags, metastore=nothing, storage=nothing, open=lambda: None, close=lambda: None, table_found=None
    )


def job_of(operator: OperatorInMemory, run: str) -> str:
    """The job in the run's ConfigMap."""
    bodies = (operator.store.peek(Kind.CONFIG_MAP, SHOP, name) for name in operator.store.names(Kind.CONFIG_MAP))
    jobs: list[str] = [text for body in bodies if body is not None for text in body["data"].values()]
    (found,) = (text for text in jobs if json.loads(text)["run"]["name"] == run)
    return found
