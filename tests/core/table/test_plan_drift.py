"""Drift: when a run looks for it, and what the status says of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core.operations.drift_state import for_job
from tests.core.table.drifting import (
    EXTRA,
    HOUR,
    OBSERVE,
    OPTION,
    PROVISION,
    REFUSED,
    accept,
    drift,
    found,
    look,
    notes,
    ready,
)
from tests.core.table.edited_table import refuse
from tests.support import builders
from tests.support.table_world import MEASURE, TableWorld


def test_a_table_that_no_run_has_read_for_the_interval_is_observed_and_an_hour_at_least_lies_between_two_runs() -> None:
    seen = ready()
    started = seen.now
    times = []
    for _ in range(60):
        seen.wait(minutes=5)
        seen.settle()
        if seen.table.status.active_run is not None:
            times.append(seen.now)
            seen.finish("Observe", after=None, **found(0))
    assert set(seen.started) == {OBSERVE}
    gaps = [later - earlier for earlier, later in zip([started, *times], times, strict=False)]
    assert all(HOUR <= gap <= HOUR * 1.25 + timedelta(minutes=5) for gap in gaps)
    assert len(times) >= 3


def test_tables_are_observed_at_times_of_their_own() -> None:
    moments = set()
    for name in ("orders", "events", "prices", "users"):
        seen = TableWorld(
            table=builders.table(name), operator=replace(builders.operator_facts(), observe_interval=HOUR)
        )
        seen.settle()
        seen.finish("Provision", created=True, **found(0, baseline=None))
        seen.settle()
        moments.add(drift(seen).next)
    assert len(moments) == 4


def test_a_run_that_finds_the_known_schema_postpones_the_next_look() -> None:
    seen = ready(retention={"snapshots": {"schedule": "*/30 * * * *"}})
    for _ in range(20):
        seen.wait(minutes=30)
        seen.run_due()
    assert set(seen.started) == {("ExpireSnapshots", "")}


def test_a_run_that_finds_another_schema_makes_observe_due_at_once_and_only_once() -> None:
    seen = ready(retention={"snapshots": {"schedule": "*/30 * * * *"}})
    seen.wait(minutes=30)
    seen.settle()
    seen.finish("ExpireSnapshots", after=MEASURE | {"schemaId": 1})
    seen.settle()
    assert seen.started == [("ExpireSnapshots", ""), OBSERVE]
    seen.finish("Observe", after=None, **found(1, EXTRA))
    seen.settle()
    seen.wait(minutes=30)
    seen.settle()
    seen.finish("ExpireSnapshots", after=MEASURE | {"schemaId": 1})
    seen.settle()
    assert seen.started == [("ExpireSnapshots", ""), OBSERVE, ("ExpireSnapshots", "")], "that schema was compared"


@pytest.mark.parametrize(
    ("digest", "started"),
    [("0" * 16, []), (None, []), ("f" * 16, [OBSERVE])],
    ids=["the same schema", "a driver of an earlier release", "a table that was dropped and made again"],
)
def test_a_run_that_finds_another_schema_of_the_same_number_makes_observe_due(
    digest: str | None, started: list[tuple[str, str]]
) -> None:
    seen = ready(retention={"snapshots": {"schedule": "*/30 * * * *"}})
    seen.wait(minutes=30)
    seen.settle()
    seen.finish("ExpireSnapshots", after=MEASURE | {"schemaId": 0, "schemaDigest": digest})
    seen.settle()
    assert seen.started == [("ExpireSnapshots", ""), *started]


def test_a_change_is_reported_with_old_and_new_value_and_one_event_and_ready_stays() -> None:
    seen = ready()
    look(seen, 1, OPTION)
    assert seen.says("Drifted") == ("True", Reason.TABLE_ALTERED)
    message = seen.condition("Drifted").message
    assert "option snapshot.num-retained.min has changed: 3 -> 5 (latest schema 1 of 2026-11-21T07:00:00Z)" in message
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)
    assert seen.says("Healthy")[0] == "True"
    for _ in range(3):
        look(seen, 1, OPTION)
    assert len(notes(seen, Reason.TABLE_ALTERED)) == 1
    look(seen, 2, OPTION, EXTRA)
    assert len(notes(seen, Reason.TABLE_ALTERED)) == 2, "somebody has changed more"
    look(seen, 3)
    assert seen.says("Drifted") == ("False", Reason.TABLE_UNALTERED)
    assert len(notes(seen, Reason.TABLE_UNALTERED)) == 1
    assert set(seen.started) == {OBSERVE}, "the policy is to report"


def test_changes_that_were_left_at_a_verification_are_given_to_the_next_look() -> None:
    seen = ready()
    look(seen, 1, EXTRA, OPTION)
    seen.edit(schema=builders.ORDERS | {"comment": "all"})
    seen.settle()
    job = for_job(seen.table.status)
    assert job is not None
    assert (job.schema_id, job.known) == (0, ()), "the driver finds them again"
    seen.finish("Provision", **found(2, EXTRA, takenBack=[OPTION]))
    seen.settle()
    job = for_job(seen.table.status)
    assert job is not None
    assert (job.schema_id, [each.field for each in job.known]) == (2, ["extra"])
    assert drift(seen).count == 1
    assert seen.says("Drifted") == ("True", Reason.TABLE_ALTERED)


def test_accepted_changes_are_no_drift_any_more() -> None:
    seen = ready()
    look(seen, 1, EXTRA)
    accept(seen, "7")
    seen.settle()
    assert seen.says("Drifted")[0] == "True", "another schema was accepted"
    accept(seen, "1")
    seen.settle()
    assert seen.says("Drifted") == ("False", Reason.TABLE_UNALTERED)
    job = for_job(seen.table.status)
    assert job is not None
    assert (job.schema_id, job.schema_digest, job.known) == (1, f"{1:016x}", ())


def test_a_look_that_began_before_its_changes_were_accepted_is_repeated() -> None:
    seen = ready()
    look(seen, 1, EXTRA)
    seen.wait(hours=2)
    seen.settle()
    accept(seen, "1")
    seen.settle()
    seen.finish("Observe", after=None, **found(1, EXTRA))
    seen.settle()
    assert seen.says("Drifted") == ("Unknown", Reason.SCHEMA_NOT_COMPARED)
    assert seen.started == [OBSERVE] * 3
    seen.finish("Observe", after=None, **found(1, baseline=1))
    seen.settle()
    assert seen.says("Drifted")[0] == "False"


def test_a_change_that_leaves_no_legal_plan_stops_writes_until_a_run_has_decided() -> None:
    seen = ready(writes=[builders.write(schedule="*/15 * * * *")])
    seen.wait(minutes=15)
    seen.settle()
    seen.finish("Write", after=MEASURE | {"schemaId": 1})
    seen.settle()
    bucket = {"change": "OptionChanged", "field": "bucket", "before": "2", "after": "4"}
    seen.finish("Observe", after=None, **found(1, bucket, refused=REFUSED))
    seen.settle()
    assert seen.started == [("Write", "import"), OBSERVE, PROVISION]
    refuse(seen, **found(1, bucket))
    seen.settle()
    assert seen.says("Ready") == ("False", Reason.TABLE_DIFFERS)
    assert seen.says("Drifted") == ("True", Reason.TABLE_ALTERED)
    seen.wait(minutes=45)
    seen.settle()
    assert len(seen.started) == 3, "writes wait"
    seen.wait(minutes=45)
    seen.settle()
    assert seen.started[3:] == [PROVISION], "somebody may have reverted it by hand"
    seen.finish("Provision", **found(2))
    seen.settle()
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)
    assert seen.says("Drifted") == ("False", Reason.TABLE_UNALTERED)
    assert seen.started[4:] == [("Write", "import")]


def test_a_status_of_an_earlier_release_gets_its_schema_from_the_first_look() -> None:
    seen = ready()
    state = seen.table.status.provision
    assert state is not None
    old = state.model_copy(update={"schema_id": None, "schema_digest": None})
    status = seen.table.status.model_copy(update={"provision": old, "drift": None})
    seen.table = seen.table.model_copy(update={"status": status})
    seen.settle()
    assert seen.started == [], "not all tables at once"
    assert for_job(seen.table.status) is None
    look(seen, 4, baseline=None)
    assert seen.says("Drifted") == ("False", Reason.TABLE_UNALTERED)
    job = for_job(seen.table.status)
    assert job is not None
    assert job.schema_id == 4


def test_nothing_is_observed_while_the_table_is_suspended() -> None:
    seen = ready()
    seen.edit(suspend=True)
    seen.wait(hours=5)
    seen.settle()
    assert seen.started == []


def test_a_table_that_is_not_established_is_not_observed() -> None:
    seen = TableWorld(operator=replace(builders.operator_facts(), observe_interval=HOUR))
    seen.settle()
    refuse(seen)
    seen.created.clear()
    for _ in range(5):
        seen.wait(hours=1)
        seen.settle()
    assert seen.started == []


def test_a_table_is_observed_also_where_commits_are_unsafe_and_after_all_other_work() -> None:
    seen = ready(retention={"snapshots": {"schedule": "0 * * * *"}})
    seen.wait(hours=2)
    seen.settle()
    assert seen.started == [("ExpireSnapshots", "")], "Observe is due as well"
    commit = {"snapshotId": 9, "commitUser": "theirs", "kind": "APPEND", "time": "2026-11-21T09:00:00Z"}
    seen.finish("ExpireSnapshots", seenSnapshot=9, outsideCommit=commit, after=MEASURE | {"schemaId": 1})
    seen.settle()
    assert seen.says("CommitSafe")[0] == "False"
    assert seen.started[1:] == [OBSERVE]
    assert seen.says("Stalled")[0] == "True"
    seen.finish("Observe", after=None, **found(1, EXTRA))
    seen.settle()
    assert seen.says("Drifted")[0] == "True"


def test_one_failed_look_says_nothing_about_the_table_and_repeated_ones_do() -> None:
    seen = ready()
    seen.wait(hours=2)
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.STORAGE_UNREACHABLE)
    seen.settle()
    assert seen.says("Healthy")[0] == "True"
    seen.wait(minutes=2)
    seen.settle()
    assert seen.started == [OBSERVE] * 2
    seen.fail(FailureClass.ENVIRONMENT, Reason.STORAGE_UNREACHABLE)
    seen.settle()
    assert seen.says("Healthy") == ("False", Reason.STORAGE_UNREACHABLE)
    assert seen.says("Ready")[0] == "True"
