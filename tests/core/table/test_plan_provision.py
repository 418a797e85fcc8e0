"""Provision runs: what starts one, what blocks one, and what an edit does."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from tests.support import builders
from tests.support.table_world import TableWorld, delay_of


def world(**spec: Any) -> TableWorld:
    return TableWorld(table=builders.table(**spec))


def test_a_new_table_is_provisioned_and_then_ready_with_its_facts() -> None:
    seen = world()
    seen.settle()
    assert seen.says("Ready") == ("Unknown", Reason.PROVISIONING)
    assert seen.says("Reconciling") == ("True", Reason.PROVISIONING)
    seen.finish("Provision", created=True)
    seen.settle()
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)
    assert seen.says("Reconciling")[0] == "False"
    facts = seen.table.status.table
    assert facts is not None
    assert (facts.identifier, facts.rows, facts.size) == ("shop.orders", 12, "4Ki")
    assert seen.table.status.provision is not None
    assert seen.table.status.provision.created is True


@pytest.mark.parametrize("created", [True, False], ids=["created", "adopted"])
def test_the_first_run_decides_whether_the_table_was_created_or_adopted(*, created: bool) -> None:
    seen = world()
    seen.settle()
    seen.finish(created=created)
    seen.settle()
    seen.edit(options={"file.compression": "lz4"})
    seen.settle()
    seen.finish(created=not created)
    seen.settle()
    assert seen.table.status.provision is not None
    assert seen.table.status.provision.created is created


NO_RUN_EDITS: list[tuple[str, dict[str, Any]]] = [
    ("sizes of the Spark driver", {"spark": {"driver": {"cores": 4, "memory": "8Gi"}}}),
    ("deadlines and retries", {"runPolicy": {"activeDeadline": "6h", "backoffLimit": 1}}),
    ("what happens at deletion", {"deletionPolicy": "Delete"}),
    ("how to adopt", {"adoptionPolicy": "Fail"}),
    ("the time zone", {"timeZone": "Europe/Berlin"}),
    ("outside writers that are paused", {"externalWriters": "Paused"}),
    ("a schedule that is not due", {"retention": {"snapshots": {"schedule": "0 9 * * *"}}}),
    ("the spelling of a type", {"schema": {**builders.ORDERS, "columns": [{"name": "order_id", "type": "bigint not null"}, {"name": "amount", "type": "decimal( 12, 2 )"}, {"name": "note", "type": "VARCHAR(2147483647)"}]}}),
    ("a default that is spelt out", {"bucket": {"type": "Dynamic"}, "mergeEngine": {"type": "Deduplicate"}, "changelogProducer": {"type": "None"}}),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "edit"), NO_RUN_EDITS)
def test_edits_that_start_no_run(sentence: str, edit: dict[str, Any]) -> None:
    seen = world().ready()
    seen.edit(**edit)
    seen.settle()
    assert seen.started == [("Provision", "")], sentence
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)
    assert seen.table.status.observed_generation == 2


RUN_EDITS: list[tuple[str, dict[str, Any]]] = [
    ("an option", {"options": {"file.compression": "lz4"}}),
    ("the table's comment", {"schema": {**builders.ORDERS, "comment": "all orders"}}),
    ("how long snapshots are kept", {"retention": {"snapshots": {"timeRetained": "2d"}}}),
    ("who compacts", {"compaction": {"mode": "External"}}),
    ("a column", {"schema": {**builders.ORDERS, "columns": [*builders.ORDERS["columns"], {"name": "n", "type": "INT"}]}}),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "edit"), RUN_EDITS)
def test_edits_that_start_a_run(sentence: str, edit: dict[str, Any]) -> None:
    seen = world().ready()
    seen.edit(**edit)
    seen.settle()
    assert seen.started == [("Provision", "")] * 2, sentence
    assert seen.says("Ready") == ("Unknown", Reason.PROVISIONING)
    assert seen.says("Reconciling")[0] == "True"


def test_an_edit_and_its_reversal_each_start_a_run_with_its_own_name() -> None:
    """The result of the first run answers the first edit only."""
    seen = world().ready()
    for options in ({"file.compression": "lz4"}, None, {"file.compression": "lz4"}):
        seen.edit(options=options)
        seen.settle()
        seen.finish("Provision", created=False)
        seen.settle()
    assert len({run.metadata.name for run in seen.created}) == len(seen.created) == 4


def with_compaction(mode: str | None) -> PaimonCatalog:
    return builders.catalog(tableDefaults={"compaction": {"mode": mode}} if mode else None)


def test_a_changed_and_reverted_catalog_default_starts_a_run_each_time() -> None:
    """A catalog edit changes no generation of the table, and the first run of the same wanted state still exists."""
    seen = world().ready()
    wanted = seen.table.status.provision.hash if seen.table.status.provision else None
    for mode in ("External", None):
        seen.catalog = with_compaction(mode)
        seen.settle()
        assert seen.says("Ready") == ("Unknown", Reason.PROVISIONING)
        seen.finish("Provision", created=False)
        seen.settle()
    assert seen.started == [("Provision", "")] * 3
    assert seen.table.status.provision is not None
    assert seen.table.status.provision.hash == wanted


def test_an_edit_during_provisioning_starts_a_run_afterwards() -> None:
    seen = world()
    seen.settle()
    seen.edit(options={"file.compression": "lz4"})
    seen.settle()
    assert len(seen.created) == 1, "one run at a time"
    seen.finish(created=True)
    seen.settle()
    assert len(seen.created) == 2
    assert seen.says("Ready") == ("Unknown", Reason.PROVISIONING)


def test_an_edit_during_an_active_run_reports_which_run_it_waits_for() -> None:
    seen = world(writes=[builders.write()]).ready()
    seen.edit(options={"file.compression": "lz4"})
    seen.settle()
    for condition in ("Ready", "Reconciling"):
        assert seen.says(condition)[1] == Reason.ANOTHER_RUN_IS_ACTIVE
        assert f"run {seen.active.metadata.name} has ended" in seen.condition(condition).message


@pytest.mark.parametrize("reason", [Reason.TABLE_DIFFERS, Reason.TABLE_REFUSED, Reason.INVALID_SPEC])
def test_a_failure_by_the_manifest_waits_for_an_edit(reason: Reason) -> None:
    seen = world()
    seen.settle()
    seen.fail(FailureClass.SPEC, reason, "column amount is DECIMAL(10,2), wanted DECIMAL(12,2)")
    decision = seen.settle()
    assert seen.says("Stalled") == ("True", reason)
    assert seen.says("Ready") == ("False", reason)
    assert "DECIMAL(10,2)" in seen.condition("Ready").message
    assert decision.requeue_after is None
    seen.wait(days=3)
    seen.settle()
    assert len(seen.created) == 1


def test_any_edit_retries_a_table_that_was_never_ready() -> None:
    """The cause may have been fixed outside the manifest."""
    seen = world()
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.TABLE_EXISTS)
    seen.settle()
    seen.edit(adoptionPolicy="AdoptIfIdentical", deletionPolicy="Delete")
    seen.settle()
    assert len(seen.created) == 2
    assert seen.created[0].metadata.name != seen.created[1].metadata.name


def test_an_edit_of_sizes_does_not_retry_a_table_that_was_ready_and_differs_now() -> None:
    seen = world().ready()
    seen.edit(schema={**builders.ORDERS, "primaryKeys": ["order_id", "note"]})
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.TABLE_DIFFERS)
    seen.settle()
    seen.edit(spark={"driver": {"memory": "8Gi"}})
    seen.settle()
    assert len(seen.created) == 2
    assert seen.says("Stalled") == ("True", Reason.TABLE_DIFFERS)


def test_a_reverted_edit_is_ready_again_without_a_run() -> None:
    seen = world().ready()
    seen.edit(schema={**builders.ORDERS, "primaryKeys": ["order_id", "note"]})
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.TABLE_DIFFERS)
    seen.settle()
    seen.edit(schema=builders.ORDERS)
    seen.settle()
    assert len(seen.created) == 2
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)
    assert seen.says("Stalled")[0] == "False"
    assert seen.says("Healthy")[0] == "True"


def test_while_the_table_differs_maintenance_continues_and_writes_report_that_they_wait() -> None:
    seen = world(
        writes=[builders.write()], retention={"snapshots": {"schedule": "0 * * * *"}}, compaction={"mode": "Inline"}
    )
    seen.ready()
    while seen.table.status.active_run:
        seen.finish()
        seen.settle()
    before = len(seen.created)
    seen.edit(schema={**builders.ORDERS, "primaryKeys": ["order_id", "note"]})
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.TABLE_DIFFERS)
    seen.wait(hours=1)
    seen.settle()
    assert seen.started[before:] == [("Provision", ""), ("ExpireSnapshots", "")]
    seen.finish()
    seen.settle()
    (write,) = seen.table.status.writes
    assert write.decision is not None
    assert (write.decision.result, write.decision.reason) == ("Waiting", Reason.TABLE_DIFFERS)


@pytest.mark.parametrize(
    ("reason", "first", "last"), [(Reason.TABLE_EXISTS, 1, 15), (Reason.CONFLICT, 60, 75)], ids=["exists", "owned"]
)
@pytest.mark.parametrize("ready", [False, True], ids=["new", "was Ready"])
def test_a_table_of_another_owner_is_stalled_and_retried(reason: Reason, first: int, last: int, *, ready: bool) -> None:
    seen = world().ready() if ready else world()
    seen.edit(options={"file.compression": "lz4"})
    for _ in range(3):
        seen.settle()
        seen.fail(FailureClass.SPEC, reason, "the table belongs to other/shop/orders")
        decision = seen.settle()
        assert (seen.says("Stalled"), seen.says("Ready")) == (("True", reason), ("False", reason))
        assert timedelta(minutes=first) <= delay_of(decision) <= timedelta(minutes=last)
        seen.now += delay_of(decision)
    seen.settle()
    seen.finish("Provision", created=False)
    seen.settle()
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)


@pytest.mark.parametrize("reason", [Reason.TABLE_NOT_FOUND, Reason.CONFLICT])
def test_a_run_that_finds_the_table_missing_or_taken_is_followed_by_a_verification(reason: Reason) -> None:
    hourly = {"snapshots": {"schedule": "0 * * * *"}}
    seen = world(writes=[builders.write()], retention=hourly, deletionPolicy="Delete").ready()
    seen.fail(FailureClass.SPEC, reason, "there is no table shop.orders")
    seen.settle()
    assert seen.says("Ready") == ("Unknown", Reason.PROVISIONING)
    seen.fail(FailureClass.SPEC, Reason.CONFLICT, "the table belongs to other/shop/orders")
    seen.settle()
    assert seen.says("Ready") == ("False", Reason.CONFLICT)
    assert [type_ for type_, _ in seen.started] == ["Provision", "Write", "Provision"], "no run on an unverified table"
    assert seen.table.status.retention is not None
    assert seen.table.status.retention.decision is not None
    assert seen.table.status.retention.decision.reason == Reason.TABLE_NOT_READY
    seen.edit(adoptionPolicy="Adopt")
    seen.settle()
    seen.finish("Provision", created=False)
    seen.settle()
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)
    assert seen.active.spec.type != "Provision", "scheduled runs continue"


@pytest.mark.parametrize(
    "class_",
    [
        FailureClass.ENVIRONMENT,
        FailureClass.CONFLICT,
        FailureClass.INFRASTRUCTURE,
        FailureClass.OUT_OF_MEMORY,
        FailureClass.DEADLINE,
        FailureClass.CANCELLED,
    ],
)
def test_all_other_failures_are_retried_after_1_to_15_minutes_and_stalled_until_then(class_: FailureClass) -> None:
    seen = world()
    seen.settle()
    seen.fail(class_, Reason.BUCKET_NOT_FOUND, "bucket lake does not exist")
    decision = seen.settle()
    assert seen.says("Stalled") == ("True", Reason.BUCKET_NOT_FOUND)
    assert "tried again at" in seen.condition("Stalled").message
    assert timedelta(minutes=1) <= delay_of(decision) <= timedelta(minutes=15)
    seen.now += delay_of(decision) - timedelta(seconds=1)
    seen.settle()
    assert len(seen.created) == 1, "not before the delay has passed"
    seen.wait(seconds=1)
    seen.settle()
    assert len(seen.created) == 2
    assert seen.says("Stalled")[0] == "True", "no flapping during the retry"
    assert f"being tried again by run {seen.active.metadata.name}" in seen.condition("Stalled").message
    seen.finish(created=True)
    seen.settle()
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)


def test_a_job_of_another_release_is_replaced_by_a_new_run_at_once_and_only_once() -> None:
    seen = world()
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.JOB_UNREADABLE, "the job of an older operator")
    seen.settle()
    assert len(seen.created) == 2, "the next run has a job of this release, so there is no delay"
    seen.fail(FailureClass.ENVIRONMENT, Reason.JOB_UNREADABLE, "the image is of another release")
    decision = seen.settle()
    assert len(seen.created) == 2
    assert timedelta(minutes=1) <= delay_of(decision) <= timedelta(minutes=15)


def test_retries_double_and_never_share_a_name_with_a_failed_run() -> None:
    seen = world()
    delays: list[timedelta] = []
    seen.settle()
    for _ in range(8):
        seen.fail(FailureClass.ENVIRONMENT, Reason.BUCKET_NOT_FOUND)
        decision = seen.settle()
        delays.append(delay_of(decision))
        seen.now += delay_of(decision)
        seen.settle()
    assert delays[0] < delays[1] < delays[2] < delays[3]
    assert max(delays) <= timedelta(minutes=15)
    assert len({run.metadata.name for run in seen.created}) == 9


def test_an_edit_of_a_ready_table_is_retried_on_unreachable_storage_and_the_table_is_not_stalled() -> None:
    seen = world().ready()
    seen.edit(options={"file.compression": "lz4"})
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.STORAGE_UNREACHABLE, "no answer from s3")
    decision = seen.settle()
    assert seen.says("Ready") == ("Unknown", Reason.STORAGE_UNREACHABLE)
    assert seen.says("Reconciling") == ("True", Reason.STORAGE_UNREACHABLE)
    assert seen.says("Healthy") == ("False", Reason.STORAGE_UNREACHABLE)
    assert decision.requeue_after is not None


def test_finished_runs_beyond_the_history_limits_are_deleted_oldest_first() -> None:
    seen = world(runPolicy={"successfulRunsHistoryLimit": 1, "failedRunsHistoryLimit": 2})
    seen.settle()
    for _ in range(4):
        seen.fail(FailureClass.ENVIRONMENT, Reason.BUCKET_NOT_FOUND)
        seen.now += delay_of(seen.settle())
        seen.settle()
    failed = [run.metadata.name for run in seen.runs if run.status.completion_time]
    assert failed == [run.metadata.name for run in seen.created[2:4]]


def test_dedicated_first_row_tables_report_when_new_rows_become_visible() -> None:
    seen = world(mergeEngine={"type": "FirstRow"}, compaction={"mode": "External"}).ready()
    assert "become visible when it is compacted" in seen.condition("Ready").message
