"""The search for orphan files: when a run starts, what it is, and when a human has to act."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.api.table.status import OrphanFilesState
from tests.core.table.measured import checks_of
from tests.support import builders
from tests.support.table_world import TableWorld

SEARCH = ("RemoveOrphanFiles", "")
DAILY: dict[str, Any] = {"mode": "Delete", "olderThan": "3d", "schedule": "15 4 * * *"}
FOUND: dict[str, Any] = {"orphanFiles": {"files": 20, "orphans": 9, "orphanBytes": 90, "unknown": 0, "report": "r"}}


def world(block: dict[str, Any] | None = None, **spec: Any) -> TableWorld:
    """A Ready table with this block, whose missed ticks are answered."""
    table = builders.table(retention={"orphanFiles": block or DAILY}, **spec)
    seen = TableWorld(table=table, catalog=builders.catalog()).ready()
    seen.run_due()
    return seen


def state(seen: TableWorld) -> OrphanFilesState:
    found = seen.table.status.orphan_files
    assert found is not None
    return found


def test_a_run_starts_by_the_schedule_with_the_settings_of_the_table() -> None:
    seen = world()
    seen.wait(days=1)
    assert seen.run_due() == [SEARCH]
    assert seen.created[-1].spec.model_extra == {"removeOrphanFiles": {}}
    assert state(seen).next is not None


def test_a_table_without_the_block_has_no_run() -> None:
    seen = TableWorld(table=builders.table(), catalog=builders.catalog()).ready()
    seen.wait(days=30)
    assert SEARCH not in seen.run_due()
    assert seen.table.status.orphan_files is None


def test_it_waits_for_a_maintenance_window() -> None:
    seen = world()
    seen.catalog = builders.catalog(maintenanceWindows=[{"schedule": "0 22 * * *", "duration": "1h"}])
    seen.wait(days=1)
    assert seen.run_due() == []
    decision = state(seen).decision
    assert decision is not None
    assert decision.reason == Reason.WAITING_FOR_WINDOW


def test_while_it_waits_the_numbers_of_the_last_report_are_shown() -> None:
    seen = world(DAILY | {"olderThan": "30h"})
    seen.wait(days=1)
    seen.settle()
    seen.finish("RemoveOrphanFiles", **FOUND)
    seen.settle()
    seen.catalog = builders.catalog(maintenanceWindows=[{"schedule": "0 22 * * *", "duration": "1h"}])
    for passed, reached in (("1d", False), ("2d", True)):
        seen.wait(days=1)
        seen.settle()
        decision = state(seen).decision
        assert decision is not None
        assert decision.reason == Reason.WAITING_FOR_WINDOW
        assert checks_of(decision) == {"olderThan": (passed, "30h", reached), "orphanFiles": ("9", "1", True)}
        assert decision.observed_at == state(seen).last_time
        assert "starts at" in decision.message


def test_with_too_many_orphans_a_human_has_to_act_and_all_else_goes_on() -> None:
    seen = world(writes=[builders.write()])
    seen.wait(days=1)
    while seen.settle() and seen.active.spec.type != "RemoveOrphanFiles":
        seen.finish()
    seen.fail(FailureClass.SPEC, Reason.TOO_MANY_ORPHAN_FILES, "9 of 20 files are orphans", **FOUND)
    seen.settle()
    assert seen.says("Ready") == ("True", "TableMatchesSpec")
    assert seen.says("Stalled") == ("True", "TooManyOrphanFiles")
    assert seen.says("Healthy") == ("False", "TooManyOrphanFiles")
    assert (state(seen).files, state(seen).report) == (9, "r")
    seen.wait(hours=1)
    assert seen.run_due() == [("Write", "import")]


@pytest.mark.parametrize("class_", [FailureClass.ENVIRONMENT, FailureClass.SPEC], ids=["found by it", "known before"])
def test_after_a_foreign_commit_it_waits_for_an_edit_and_is_not_retried(class_: FailureClass) -> None:
    seen = world()
    seen.wait(days=1)
    seen.settle()
    seen.fail(class_, Reason.OUTSIDE_COMMIT, "snapshot 7 was made by commit user flink")
    seen.settle()
    assert seen.says("Ready") == ("True", "TableMatchesSpec")
    assert seen.says("Stalled") == ("True", "OutsideCommit")
    assert seen.says("Healthy") == ("False", "OutsideCommit")
    seen.wait(hours=12)
    assert seen.run_due() == []
    assert seen.says("Stalled") == ("True", "OutsideCommit")

    seen.edit(externalWriters="Paused")
    assert seen.run_due() == [SEARCH]
    assert seen.says("Stalled")[0] == "False"
    assert seen.says("Healthy")[0] == "True"


def test_a_foreign_commit_that_ends_another_run_stalls_nothing() -> None:
    seen = world(compaction={"mode": "Dedicated", "full": {"schedule": "15 3 * * *"}})
    seen.wait(days=1)
    seen.settle()
    assert seen.active.spec.type == "Compact"
    seen.fail(FailureClass.ENVIRONMENT, Reason.OUTSIDE_COMMIT, "snapshot 7 was made by commit user flink")
    seen.settle()
    assert seen.says("Stalled")[0] == "False"


def test_the_next_search_that_succeeds_ends_that() -> None:
    seen = world()
    seen.wait(days=1)
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.TOO_MANY_ORPHAN_FILES, "9 of 20 files are orphans", **FOUND)
    seen.wait(days=1)
    assert seen.run_due() == [SEARCH]
    assert seen.says("Stalled")[0] == "False"
    assert seen.says("Healthy")[0] == "True"


def test_a_users_run_that_may_remove_more_ends_it_too() -> None:
    seen = world()
    seen.wait(days=1)
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.TOO_MANY_ORPHAN_FILES, "9 of 20 files are orphans", **FOUND)
    asked: dict[str, Any] = {"removeOrphanFiles": {"mode": "Delete", "maxPercent": 60}}
    seen.runs.append(builders.run("mine", table=seen.table, type="RemoveOrphanFiles", compact=None, **asked))
    seen.settle()
    seen.finish("RemoveOrphanFiles", orphanFiles=FOUND["orphanFiles"] | {"moved": 9})
    seen.settle()
    assert seen.says("Stalled")[0] == "False"


def test_a_users_report_does_not_end_it() -> None:
    seen = world()
    seen.wait(days=1)
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.TOO_MANY_ORPHAN_FILES, "9 of 20 files are orphans", **FOUND)
    for number, found in enumerate((FOUND["orphanFiles"] | {"orphans": 8}, {"restored": 3})):
        asked: dict[str, Any] = {"removeOrphanFiles": {}}
        seen.runs.append(builders.run(f"mine-{number}", table=seen.table, type=SEARCH[0], compact=None, **asked))
        seen.settle()
        seen.finish("RemoveOrphanFiles", orphanFiles=found)
        seen.settle()
        assert seen.says("Stalled") == ("True", "TooManyOrphanFiles")
    assert state(seen).files == 8


def test_an_unreadable_reference_is_retried_before_the_next_tick() -> None:
    seen = world()
    seen.wait(days=1)
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.REFERENCE_UNREADABLE)
    seen.wait(hours=1)
    assert seen.run_due() == [SEARCH]
