"""A file that is replaced while it is read must not be recorded in the ledger as the listed one."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from spark_apps.failures.errors import RunError
from spark_apps.loading.ambiguous_loads import CLOCKS_APART, replaced_files
from spark_apps.loading.input_files import InputFile, read_unchanged
from tests.spark.lake import Ended, Lake

pytestmark = pytest.mark.newest_engine

OLD, NEW, OTHER = (InputFile("orders/1.csv", 10, v) for v in ("old", "new", "other"))
LATER = InputFile("orders/2.csv", 10, "x")


def read_through(*listings: list[InputFile]) -> tuple[list[InputFile], list[InputFile] | None]:
    """Returns what is loaded if successive listings return these files."""
    looks = iter(listings)
    return read_unchanged(lambda: next(looks), lambda found: found, list, field="spec.writes[import].from.files.path")


def test_files_that_two_listings_agree_on_are_loaded() -> None:
    assert read_through([OLD], [OLD]) == ([OLD], [OLD])


def test_a_replaced_file_is_read_again() -> None:
    assert read_through([OLD], [NEW], [NEW]) == ([NEW], [NEW])


def test_a_file_that_vanished_is_not_loaded() -> None:
    assert read_through([OLD, LATER], [LATER], [LATER]) == ([LATER], [LATER])


def test_a_new_file_waits_for_the_next_run() -> None:
    assert read_through([OLD], [OLD, LATER]) == ([OLD], [OLD])


def test_without_remaining_files_nothing_is_loaded() -> None:
    assert read_through([OLD], []) == ([], None)


def test_a_file_that_keeps_changing_is_reported_by_its_name() -> None:
    with pytest.raises(RunError, match=r"orders/1\.csv") as raised:
        read_through([OLD], [NEW], [OTHER], [OLD])
    assert raised.value.field == "spec.writes[import].from.files.path"


def test_only_an_existing_file_of_another_version_was_replaced() -> None:
    assert replaced_files([OLD, LATER], [NEW, LATER], committed=0) == [OLD]
    assert replaced_files([OLD, LATER], [LATER], committed=0) == [], "files that are loaded are often tidied away"


@pytest.mark.parametrize(
    ("after_the_commit", "doubtful"),
    [(-5_000, True), (0, True), (CLOCKS_APART, True), (CLOCKS_APART + 1, False), (86_400_000, False)],
)
def test_a_version_that_is_clearly_younger_than_the_commit_was_not_loaded(
    after_the_commit: int, *, doubtful: bool
) -> None:
    newer = InputFile(OLD.path, OLD.size, "new", modified=1_700_000_000_000 + after_the_commit)
    assert replaced_files([OLD], [newer], committed=1_700_000_000_000) == ([OLD] if doubtful else [])


def test_the_time_of_modification_does_not_identify_a_version() -> None:
    """A server can return different times of the same ETag in two listings."""
    assert InputFile("orders/1.csv", 10, "old", modified=7) in {OLD}


def write_while_replaced(lake: Lake, by: str, **more: Any) -> Ended:
    """Performs a write whose file is replaced after its last listing and before Spark opens it."""
    file = lake.land("orders/1.csv", "id,n\n1,10\n")
    return lake.perform(lake.write_job(**more), replace=str(file), by=by)


@pytest.mark.parametrize(
    ("table", "mode"),
    [
        ({"options": {"bucket": "-1"}}, "Append"),
        (
            {
                "keys": ["id"],
                "options": {"bucket": "1", "merge-engine": "aggregation", "fields.n.aggregate-function": "sum"},
            },
            "Upsert",
        ),
    ],
)
def test_rows_of_an_unknown_version_end_with_an_unknown_result(lake: Lake, table: dict[str, Any], mode: str) -> None:
    lake.provision({"id": "BIGINT", "n": "BIGINT"}, **table).ok()

    message, remedy = write_while_replaced(lake, "id,n\n1,500\n", mode=mode).unknown()

    assert "orders/1.csv" in message
    assert "snapshot 1 " in message
    assert "the newer one is loaded when you delete the run" in remedy
    assert list(lake.ledger_directory.glob("*.committed")), "the rows are in the table"
    assert lake.write(mode=mode).ok()["write"]["files"] == 1, "as the remedy says"


def test_a_write_once_does_not_load_the_newer_version_and_reports_it(lake: Lake) -> None:
    lake.provision({"id": "BIGINT", "n": "BIGINT"}, keys=["id"], options={"bucket": "1"}).ok()

    _, remedy = write_while_replaced(lake, "id,n\n1,500\n", once=True).unknown()

    assert "give that to a write of another name" in remedy
    assert lake.write(once=True).ok()["write"]["alreadyCommitted"] is True
    assert lake.write(once=True, name="other").ok()["write"]["files"] == 1


@pytest.mark.parametrize(
    "options",
    [{}, {"merge-engine": "partial-update"}, {"merge-engine": "first-row", "changelog-producer": "lookup"}],
)
def test_a_keyed_table_is_corrected_by_the_next_run(lake: Lake, options: dict[str, str]) -> None:
    lake.provision({"id": "BIGINT", "n": "BIGINT"}, keys=["id"], options={"bucket": "1", **options}).ok()

    write_while_replaced(lake, "id,n\n1,500\n").ok()

    assert lake.write().ok()["write"]["files"] == 1
    assert [row["n"] for row in lake.rows()] == [500]


def test_a_file_deleted_after_its_load_is_no_error(lake: Lake) -> None:
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1"}).ok()
    file = lake.land("orders/1.csv", "id\n1\n")
    lake.die_at("after the commit", lake.write_job(run="lost", mode="Append"))
    file.unlink()
    file.parent.rmdir()

    assert lake.write(run="lost", mode="Append").ok()["write"]["alreadyCommitted"] is True


def lose_a_load(lake: Lake) -> Path:
    """Performs a run `lost`, which loads row 1 and dies before its result; returns its file."""
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1"}).ok()
    file = lake.land("orders/1.csv", "id\n1\n")
    lake.die_at("after the commit", lake.write_job(run="lost", mode="Append"))
    return file


def test_the_retry_of_an_attempt_that_died_before_its_result_reports_the_load(lake: Lake) -> None:
    listed = lose_a_load(lake).stat().st_mtime
    replaced = lake.land("orders/1.csv", "id\n500\n")
    os.utime(replaced, (listed + 1, listed + 1))

    lake.write(run="lost", mode="Append").unknown()


def test_a_new_file_of_the_same_name_is_loaded(lake: Lake) -> None:
    lose_a_load(lake)
    later = time.time() + 2 * CLOCKS_APART / 1000
    os.utime(lake.land("orders/1.csv", "id\n500\n"), (later, later))

    assert lake.write(run="lost", mode="Append").ok()["write"]["alreadyCommitted"] is True
    assert lake.write(run="next", mode="Append").ok()["write"]["files"] == 1
    assert sorted(row["id"] for row in lake.rows()) == [1, 500]
