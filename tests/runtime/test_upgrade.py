"""Upgrades of a fleet: this release starts on the objects of an earlier one.

golden/settled_by_d125279.json was written by the code of commit d125279 (release 0.1): 20 settled tables of different
shapes with their runs and Pods, and the names of the runs that the same code then started within 26 hours.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from paimon_operator.core.ports import Kind
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, has_ended
from tests.support.manifests import Manifest
from tests.support.object_store import ObjectStore
from tests.support.virtual_time import VirtualTime

SETTLED: dict[str, Any] = json.loads((Path(__file__).parent / "golden" / "settled_by_d125279.json").read_text())

RENAMED = {
    "AsExpected": "NoActionNeeded",
    "StorageNotTried": "StorageUnverified",
    "WithinThresholds": "RunsSucceeding",
}
"""Reasons of release 0.1 and their names in this release."""

SPREAD = "dedicated"
"""The table whose expiry has the operator's default schedule. Each table has its own minute of the hour now."""


@pytest.fixture
async def upgraded() -> OperatorInMemory:
    """This release, started on the objects of the earlier one."""
    time = VirtualTime()
    store = ObjectStore(time)
    store.restore(json.loads(json.dumps(SETTLED["objects"])))
    time.advance((datetime.fromisoformat(SETTLED["now"]) - time.now()).total_seconds())
    operator = await OperatorInMemory(store=store, time=time).start()
    await operator.settle()
    return operator


def tables(operator: OperatorInMemory) -> dict[str, Any]:
    found = (operator.store.peek(Kind.TABLE, SHOP, name) for name in operator.store.names(Kind.TABLE))
    return {body["metadata"]["name"]: body for body in found if body is not None}


def with_new_reasons(body: dict[str, Any]) -> dict[str, Any]:
    """The table's status with new names of reasons, without messages of conditions and without what is new."""
    status = json.loads(json.dumps(body["status"]))
    status.pop("ownership", None)
    compaction = status.get("compaction", {})
    for state in (compaction.get("minor"), compaction.get("full"), status.get("retention"), *status.get("writes", ())):
        if state:
            state.pop("schedule", None)
    for strategy in ("minor", "full"):
        status["effective"]["compaction"].get(strategy, {}).pop("when", None)
    if body["metadata"]["name"] == SPREAD:
        del status["effective"]["retention"], status["retention"]
    for condition in status["conditions"]:
        condition["reason"] = RENAMED.get(condition["reason"], condition["reason"])
        del condition["message"]
    return dict(status)


def has_renamed_reason(body: dict[str, Any]) -> bool:
    return any(condition["reason"] in RENAMED for condition in body["status"]["conditions"])


async def test_the_fixture_holds_twenty_settled_tables() -> None:
    bodies = [body for body in SETTLED["objects"] if body["kind"] == "PaimonTable"]
    assert len(bodies) == 20
    assert all("activeRun" not in body["status"] for body in bodies)


async def test_an_upgrade_starts_no_run(upgraded: OperatorInMemory) -> None:
    assert [request for request in upgraded.store.writes if request.verb != "apply_status"] == []
    assert all("activeRun" not in body["status"] for body in tables(upgraded).values())


def without_scratch(body: Manifest) -> Manifest:
    """The table without a field that the earlier release did not have. Its value is what that release used."""
    driver = body["status"].get("effective", {}).get("driver", {})
    assert driver.pop("scratch", "10Gi") == "10Gi"
    return body


async def test_an_upgrade_writes_a_status_once_for_a_renamed_reason_or_the_place_of_the_table(
    upgraded: OperatorInMemory,
) -> None:
    before = {b["metadata"]["name"]: b for b in SETTLED["objects"] if b["kind"] == "PaimonTable"}
    after = tables(upgraded)
    assert {name: with_new_reasons(without_scratch(body)) for name, body in after.items()} == {
        name: with_new_reasons(body) for name, body in before.items()
    }
    assert not any(has_renamed_reason(body) for body in after.values())
    written = [request.name for request in upgraded.store.writes if request.kind is Kind.TABLE]
    verified = {name for name, body in before.items() if "lastTime" in body["status"].get("provision", {})}
    assert sorted(written) == sorted(verified | {name for name, body in before.items() if has_renamed_reason(body)})
    proofs = {name: body["status"]["ownership"]["since"] for name, body in after.items() if name in verified}
    assert proofs == {name: before[name]["status"]["provision"]["lastTime"] for name in verified}
    runs = [request for request in upgraded.store.writes if request.kind is Kind.RUN]
    assert runs == [], "the status of a finished run was written"


async def test_scheduled_runs_keep_the_names_of_the_earlier_release(upgraded: OperatorInMemory) -> None:
    known, named = set(upgraded.store.names(Kind.RUN)), list[str]()
    for _ in range(26):
        await upgraded.pass_time(hours=1)
        for pod in upgraded.store.names(Kind.POD):
            if not has_ended(upgraded, pod):
                await end_driver(upgraded, pod)
        named += [run for run in upgraded.store.names(Kind.RUN) if run not in known and run not in named]
    assert other_than_spread(named) == other_than_spread(SETTLED["runs_of_the_next_26_hours"])
    assert len(named) == len(SETTLED["runs_of_the_next_26_hours"])


def other_than_spread(runs: list[str]) -> list[str]:
    return [run for run in runs if not run.startswith(f"{SPREAD}-expiresnapshots-")]


async def end_driver(operator: OperatorInMemory, pod: str) -> None:
    """Ends the Pod's driver with success."""
    body = operator.store.peek(Kind.POD, SHOP, pod) or {}
    run = operator.store.peek(Kind.RUN, SHOP, body["metadata"]["ownerReferences"][0]["name"]) or {}
    result: dict[str, Any] = {"write": {"rows": 12, "files": 1}} if run["spec"]["type"] == "Write" else {}
    await operator.end_pod(pod, **result)
