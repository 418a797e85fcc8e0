"""An error in a part of the manifest stops that part only, and changes no option of the table."""

# ruff: noqa: E501  (tables: one case per line)

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.core.launch.job import build_job
from paimon_operator.core.spec.desired_table import desired_table
from paimon_operator.errors import SpecError
from tests.support import builders
from tests.support.table_world import TableWorld

HOURLY = {"schedule": "0 * * * *"}
COMPACTION = {"mode": "Dedicated", "minor": None, "full": HOURLY}
RETENTION = {"snapshots": {"timeRetained": "7d", **HOURLY}}
ALL: dict[str, Any] = {
    "compaction": COMPACTION,
    "retention": RETENTION,
    "writes": [builders.write("good", **HOURLY), builders.write("other", **HOURLY)],
}
FULL, EXPIRY, GOOD, OTHER = ("Compact", "Full"), ("ExpireSnapshots", ""), ("Write", "good"), ("Write", "other")
LOST = builders.write("other", location="attic", **HOURLY)
TYPO = {**builders.write("other", **HOURLY), "options": {"file.format": "parket"}}
IDLE = {**COMPACTION, "partitionIdleTime": "1d"}
TOO_MANY = {"snapshots": {"timeRetained": "1h", "numRetainedMin": 9, "numRetainedMax": 3, **HOURLY}}

BROKEN: list[tuple[str, dict[str, Any], str, list[tuple[str, str]]]] = [
    ("a write from a lost location", {"writes": [ALL["writes"][0], LOST]}, "spec.writes[1].from.files.location", [FULL, EXPIRY, GOOD]),
    ("a typo in an option of a write", {"writes": [ALL["writes"][0], TYPO]}, "spec.writes[1].options", [FULL, EXPIRY, GOOD]),
    ("the first write of the list", {"writes": [LOST, ALL["writes"][0]]}, "spec.writes[0].from.files.location", [FULL, EXPIRY, GOOD]),
    ("compaction", {"compaction": IDLE}, "spec.compaction.partitionIdleTime", [EXPIRY, GOOD, OTHER]),
    ("the schedule of compaction", {"compaction": {**COMPACTION, "full": {"schedule": "61 * * * *"}}}, "spec.compaction.full.schedule", [EXPIRY, GOOD, OTHER]),
    ("retention", {"retention": TOO_MANY}, "spec.retention.snapshots.numRetainedMin", [FULL, GOOD, OTHER]),
    ("another member of retention", {"retention": {**RETENTION, "partitions": {"expirationTime": "9d"}}}, "spec.retention.partitions", [FULL, EXPIRY, GOOD, OTHER]),
    ("tags", {"tags": {"automaticCreation": "Watermark"}}, "spec.tags.automaticCreation", [FULL, EXPIRY, GOOD, OTHER]),
    ("the time zone", {"timeZone": "Mars/Base"}, "spec.timeZone", []),
]  # fmt: skip


def ready(**spec: Any) -> TableWorld:
    seen = TableWorld(table=builders.table(**ALL | spec)).ready()
    seen.run_due()
    seen.wait(minutes=5)
    return seen


def due_after(seen: TableWorld, **duration: float) -> list[tuple[str, str]]:
    seen.wait(**duration)
    return seen.run_due()


@pytest.mark.parametrize(("sentence", "edit", "field", "goes_on"), BROKEN, ids=[each[0] for each in BROKEN])
def test_a_broken_part_stops_only_itself(
    sentence: str, edit: dict[str, Any], field: str, goes_on: list[tuple[str, str]]
) -> None:
    seen = ready()
    seen.edit(**edit)
    runs = due_after(seen, hours=1)
    assert sorted(runs) == sorted(goes_on), sentence
    assert seen.says("Ready")[0] == "True", "the table itself is as the manifest says"
    assert seen.says("Stalled")[0] == "True"
    assert seen.condition("Stalled").message.startswith(field)
    assert seen.condition("Healthy").message.startswith(field)
    assert seen.says("Healthy")[0] == "False"


@pytest.mark.parametrize(("sentence", "edit", "field", "_"), BROKEN, ids=[each[0] for each in BROKEN])
def test_a_part_that_is_mended_waits_for_its_first_tick_after_that(
    sentence: str, edit: dict[str, Any], field: str, _: object
) -> None:
    seen = ready()
    seen.edit(**edit)
    due_after(seen, hours=5)
    seen.edit(**ALL, timeZone=None, tags=None)
    assert seen.run_due() == [], sentence
    assert seen.says("Stalled") == ("False", Reason.NO_ACTION_NEEDED), field
    assert sorted(due_after(seen, hours=1)) == sorted([FULL, EXPIRY, GOOD, OTHER])


@pytest.mark.parametrize(
    ("sentence", "edit"),
    [
        ("compaction that would no longer be dedicated", {"compaction": {"mode": "Inline", "partitionIdleTime": "1d"}}),
        ("retention of less time", {"retention": TOO_MANY}),
    ],
)
def test_a_broken_block_changes_no_option_of_the_table_and_none_in_a_job(sentence: str, edit: dict[str, Any]) -> None:
    seen = ready()
    effective = seen.table.status.effective
    assert effective is not None
    before = desired_table(seen.table.spec, effective)
    runs = len(seen.created)
    seen.edit(**edit)
    seen.settle()
    assert len(seen.created) == runs, "no verification, because nothing is to be changed"
    after = seen.table.status.effective
    assert after is not None
    assert desired_table(seen.table.spec, after) == before, sentence
    seen.edit(options={"file.compression": "zstd"})
    seen.settle()
    assert seen.active.spec.type == "Provision"
    options = job(seen, seen.active).parameters.options
    assert options == desired_table(seen.table.spec, after).options
    assert options["snapshot.time-retained"] == "7 d"
    assert options["write-only"] == "true"


def job(seen: TableWorld, run: PaimonRun) -> Any:
    assert seen.catalog is not None
    return build_job(run, seen.table, seen.catalog, seen.operator)


@pytest.mark.parametrize(
    ("sentence", "edit", "subject"),
    [
        ("a write", {"writes": [ALL["writes"][0], LOST]}, OTHER),
        ("compaction", {"compaction": IDLE}, FULL),
        ("retention", {"retention": TOO_MANY}, EXPIRY),
    ],
)
def test_a_run_that_was_decided_before_its_part_broke_gets_no_job(
    sentence: str, edit: dict[str, Any], subject: tuple[str, str]
) -> None:
    seen = ready()
    seen.wait(hours=1)
    seen.settle()
    while subject_of(seen) != subject:
        seen.finish()
        seen.settle()
    seen.edit(**edit)
    with pytest.raises(SpecError, match=r"spec\.(writes|compaction|retention)"):
        job(seen, seen.active)
    assert sentence


def subject_of(seen: TableWorld) -> tuple[str, str]:
    active = seen.table.status.active_run
    assert active is not None
    return active.type, active.subject or ""


def test_an_expiry_by_a_user_waits_for_the_retention_to_be_mended_and_a_compaction_does_not() -> None:
    seen = ready()
    seen.edit(retention=TOO_MANY, compaction=IDLE)
    seen.settle()
    seen.runs.append(builders.run("expire", table=seen.table, type="ExpireSnapshots", compact=None))
    seen.settle()
    with pytest.raises(SpecError, match=r"spec\.retention"):
        job(seen, seen.active)
    seen.finish()
    seen.settle()
    seen.runs.append(builders.run("compact", table=seen.table))
    seen.settle()
    assert job(seen, seen.active).parameters.strategy == "Full"


@pytest.mark.parametrize(
    ("sentence", "spec"),
    [("compaction", {"compaction": IDLE}), ("retention", {"retention": TOO_MANY})],
)
def test_a_table_is_not_made_with_other_options_than_those_that_are_meant(sentence: str, spec: dict[str, Any]) -> None:
    seen = TableWorld(table=builders.table(**ALL | spec))
    seen.settle()
    assert seen.created == [], sentence
    assert seen.says("Ready")[0] == "False"


def test_a_table_with_a_broken_write_is_made() -> None:
    seen = TableWorld(table=builders.table(writes=[LOST]))
    seen.settle()
    assert seen.says("Stalled") == ("True", Reason.LOCATION_NOT_FOUND)
    seen.finish("Provision", created=True)
    seen.settle()
    assert seen.says("Ready")[0] == "True"
    assert seen.says("Stalled") == ("True", Reason.LOCATION_NOT_FOUND)


@pytest.mark.parametrize(
    ("sentence", "edit", "field", "goes_on"),
    [
        ("the catalog's time zone", {"timeZone": "Mars/Base"}, "spec.timeZone", []),
        ("its default compaction", {"tableDefaults": {"compaction": {**COMPACTION, "full": {"schedule": "61 * * * *"}}}}, "spec.compaction.full.schedule", [EXPIRY, GOOD, OTHER]),
        ("its default retention", {"tableDefaults": {"retention": {"snapshots": {"schedule": "x * * * *"}}}}, "spec.retention.snapshots.schedule", [FULL, GOOD, OTHER]),
    ],
)  # fmt: skip
def test_a_wrong_default_of_the_catalog_stops_that_part_of_its_tables_only(
    sentence: str, edit: dict[str, Any], field: str, goes_on: list[tuple[str, str]]
) -> None:
    inherited: dict[str, Any] = {"tableDefaults": {"compaction": COMPACTION, "retention": RETENTION}}
    seen = TableWorld(table=builders.table(writes=ALL["writes"]), catalog=builders.catalog(**inherited)).ready()
    seen.run_due()
    defaults = inherited["tableDefaults"] | edit.get("tableDefaults", {})
    changed: dict[str, Any] = edit | {"tableDefaults": defaults}
    seen.catalog = builders.catalog(**changed)
    assert sorted(due_after(seen, hours=1)) == sorted(goes_on), sentence
    assert seen.says("Ready")[0] == "True"
    message = seen.condition("Stalled").message
    assert message.startswith(field)
    assert "PaimonCatalog lake sets it" in message


def test_what_runs_is_not_stopped_by_a_broken_time_zone() -> None:
    seen = ready()
    seen.wait(hours=1)
    seen.settle()
    going_on = seen.active
    seen.edit(timeZone="Mars/Base")
    seen.settle()
    assert seen.active == going_on
    assert job(seen, going_on).operation == going_on.spec.type


def test_a_run_that_does_not_exist_yet_is_not_made_once_its_part_is_broken() -> None:
    seen = ready()
    seen.wait(hours=1)
    decision = seen.decide()
    seen.carry_out(type(decision)(status=decision.status))  # killed before the create
    first = seen.table.status.active_run
    assert first is not None
    seen.edit(timeZone="Mars/Base")
    seen.settle()
    assert seen.table.status.active_run is None
    seen.edit(timeZone=None)
    seen.wait(minutes=20)
    assert seen.run_due() != [], "the tick is still due"


def test_the_wait_for_a_retry_does_not_hide_a_broken_part() -> None:
    seen = ready()
    seen.edit(retention=TOO_MANY)
    seen.settle()
    state = seen.table.status.retention
    assert state is not None
    assert state.next is None
    assert state.decision is not None
    assert state.decision.message.startswith("spec.retention.snapshots.numRetainedMin")
    assert timedelta(0) < (seen.settle().requeue_after or timedelta(0)) <= timedelta(hours=1)


@pytest.mark.parametrize(
    ("sentence", "catalog", "reason"),
    [
        ("it is gone", None, Reason.CATALOG_NOT_FOUND),
        ("it is invalid", builders.catalog(engine="paimon-7.3"), Reason.CATALOG_INVALID),
    ],
)
def test_a_table_that_was_verified_stays_ready_without_its_catalog(
    sentence: str, catalog: PaimonCatalog | None, reason: Reason
) -> None:
    seen = ready()
    seen.catalog = catalog
    seen.settle()
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC), sentence
    assert seen.says("Stalled") == ("True", reason)
    assert seen.says("Healthy") == ("False", reason)
    seen.edit(options={"file.compression": "zstd"})
    seen.settle()
    assert seen.says("Ready") == ("False", reason), "nobody has verified the edit"


@pytest.mark.parametrize(
    ("sentence", "location"),
    [
        ("inside the warehouse", {"name": "attic", "uri": "s3://lake/warehouse/attic"}),
        ("on another storage", {"name": "attic", "uri": "hdfs://name:8020/attic"}),
        ("of a name that is there already", {"name": "landing", "uri": "s3://attic/"}),
    ],
)
def test_a_broken_location_of_the_catalog_stops_only_the_writes_from_it(
    sentence: str, location: dict[str, str]
) -> None:
    seen = ready(writes=[ALL["writes"][0], LOST])
    given = [{"name": "landing", "uri": "s3://landing/"}, location]
    seen.catalog = builders.catalog(locations=given)
    runs = due_after(seen, hours=1)
    assert sorted(runs) == sorted([FULL, EXPIRY, GOOD]), sentence
    assert seen.says("Ready")[0] == "True"
