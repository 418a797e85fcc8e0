"""A write that gets another name keeps its state and its ledger: nothing is loaded again."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.api.base import Json
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.launch.job import build_job
from tests.support import builders
from tests.support.table_world import TableWorld


def once(name: str, path: str = "orders/") -> Json:
    return builders.write(name, schedule=None, path=path)


def hourly(name: str, path: str = "orders/") -> Json:
    return builders.write(name, schedule="0 * * * *", path=path)


def loaded(*writes: Json) -> TableWorld:
    """A table whose writes have each run once."""
    seen = TableWorld(table=builders.table(writes=list(writes))).ready()
    seen.wait(hours=1)
    seen.run_due()
    return seen


def ledgers(seen: TableWorld) -> dict[str, str]:
    """Name of each write -> the directory of its ledger, as a driver is told."""
    assert seen.catalog is not None
    found = {}
    for write in seen.table.spec.writes:
        run = builders.run("any", table=seen.table, type="Write", compact=None, write={"name": write.name})
        directory = build_job(run, seen.table, seen.catalog, seen.operator).parameters.ledger  # type: ignore[attr-defined]
        found[write.name] = directory.rstrip("/").rpartition("/")[2]
    return found


EDITS: list[tuple[str, list[list[Json]], list[str], dict[str, str]]] = [
    ("renamed", [[once("load")]], [], {"load": "import"}),
    ("renamed twice", [[once("load")], [once("seed")]], [], {"seed": "import"}),
    ("removed, and back under another name", [[], [once("load")]], [], {"load": "import"}),
    ("removed, and back under its own name", [[], [once("import")]], [], {"import": "import"}),
    ("a second one of the same content", [[once("import"), once("load")]], ["load"], {"import": "import", "load": "load"}),
    ("renamed, and its name given to another", [[once("load"), once("import", "more/")]], ["import"], {"load": "import", "import": "import_2"}),
    ("another path under its own name", [[once("import", "more/")]], ["import"], {"import": "import"}),
    ("renamed and another path", [[once("load", "more/")]], ["load"], {"load": "load"}),
    ("another path, and the first one under another name", [[once("import", "more/")], [once("import", "more/"), once("load")]], ["import"], {"import": "import", "load": "load"}),
    ("another path and back", [[once("import", "more/")], [once("import")]], ["import"], {"import": "import"}),
    ("removed, its name given to another, and back under another name", [[], [once("import", "more/")], [once("import", "more/"), once("load")]], ["import"], {"import": "import", "load": "load"}),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "edits", "runs", "kept"), EDITS, ids=[case[0] for case in EDITS])
def test_a_write_once_is_known_by_from_and_mode(
    sentence: str, edits: list[list[Json]], runs: list[str], kept: dict[str, str]
) -> None:
    seen = loaded(once("import"))
    ran = []
    for writes in edits:
        seen.edit(writes=writes)
        ran += [subject for _, subject in seen.run_due()]
    assert ran == runs, sentence
    assert ledgers(seen) == kept


def test_two_writes_that_swap_their_names_swap_their_ledgers() -> None:
    seen = loaded(once("one", "one/"), once("two", "two/"))
    seen.edit(writes=[once("one", "two/"), once("two", "one/")])
    assert seen.run_due() == []
    assert ledgers(seen) == {"one": "two", "two": "one"}


def test_a_renamed_write_of_new_files_keeps_its_ledger_and_its_ticks() -> None:
    seen = loaded(hourly("import"))
    seen.edit(writes=[hourly("load")])
    assert seen.run_due() == [], "an edit starts nothing"
    seen.wait(hours=1)
    assert seen.run_due() == [("Write", "load")]
    assert ledgers(seen) == {"load": "import"}


@pytest.mark.parametrize("edit", [[once("load")], []], ids=["renamed", "removed"])
def test_a_write_that_is_renamed_while_it_runs_is_done_when_its_run_succeeds(edit: list[Json]) -> None:
    seen = TableWorld(table=builders.table(writes=[once("import")])).ready()
    seen.edit(writes=edit)
    seen.settle()
    seen.finish("Write")
    seen.settle()
    seen.edit(writes=[once("load")])
    assert seen.run_due() == []
    assert ledgers(seen) == {"load": "import"}


def test_what_a_run_has_loaded_is_done_although_its_write_was_edited_while_it_ran() -> None:
    seen = TableWorld(table=builders.table(writes=[once("import")])).ready()
    seen.edit(writes=[once("import", "more/")])
    seen.settle()
    seen.finish("Write")
    assert seen.run_due() == [("Write", "import")]
    seen.edit(writes=[once("import", "more/"), once("load")])
    assert seen.run_due() == []


def test_a_write_that_is_renamed_before_its_run_fails_is_retried_under_its_new_name() -> None:
    seen = TableWorld(table=builders.table(writes=[once("import")])).ready()
    seen.edit(writes=[once("load")])
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.SPEC_CHANGED)
    seen.wait(minutes=16)
    assert seen.run_due() == [("Write", "load")]


def test_the_status_of_release_0_1_knows_a_write_once_that_is_done() -> None:
    seen = loaded(once("import"))
    old: dict[str, Any] = seen.table.status.to_json()
    for state in old["writes"]:
        del state["hash"]
    seen._change(status=TableStatus.model_validate(old))
    seen.edit(writes=[once("load")])
    assert seen.run_due() == []


def test_at_most_16_former_writes_are_remembered() -> None:
    seen = loaded()
    for number in range(20):
        seen.edit(writes=[once(f"load-{number}", f"{number}/")])
        seen.run_due()
    former = seen.table.status.former_writes or ()
    assert [each.ledger for each in former] == [f"load-{number}" for number in range(3, 19)]
