"""No snapshot expires before the ledgers have recorded its commit."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.spark.lake import Lake

KEEP_ONE = {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "1"}
COMPACTING = {"bucket": "1", "changelog-producer": "lookup", **KEEP_ONE}
"""A commit makes two snapshots, of which the table keeps the second, which has no rows."""


@pytest.fixture
def compacting(lake: Lake) -> Lake:
    lake.provision({"id": "BIGINT"}, keys=["id"], options=COMPACTING).ok()
    return lake


@pytest.fixture
def appending(lake: Lake) -> Lake:
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1", "write-only": "true"}).ok()
    return lake


def lose(lake: Lake, number: int, moment: str = "after the commit", **more: Any) -> Path:
    """Writes one file with a driver that dies; returns the ledger."""
    name = more.setdefault("name", "import")
    lake.land(f"{name}/{number}.csv", f"id\n{number}\n")
    lake.die_at(moment, lake.write_job(path=f"{name}/", **more))
    return lake.ledger_of(name)


def marks(ledger: Path) -> list[str]:
    return sorted(path.suffix for path in ledger.iterdir() if path.suffix in (".committed", ".abandoned"))


def numbers(lake: Lake) -> list[int]:
    return [snapshot["snapshot_id"] for snapshot in lake.snapshots()]


def test_a_commit_does_not_expire_its_own_snapshot(compacting: Lake) -> None:
    lose(compacting, 1, run="lost")

    again = compacting.write(run="lost", path="import/").ok()["write"]

    assert (again["alreadyCommitted"], again["committedSnapshot"]) == (True, 1)


def test_a_table_with_automatic_expiry_expires_once_the_entry_is_marked(compacting: Lake) -> None:
    for number in (1, 2, 3):
        compacting.land(f"orders/{number}.csv", f"id\n{number}\n")
        written = compacting.write().ok()

    assert numbers(compacting) == [6]
    assert written["table"]["snapshotId"] == 6
    options = json.loads(sorted((compacting.table_directory / "schema").glob("schema-*"))[-1].read_text())["options"]
    assert "snapshot.expire.limit" not in options


@pytest.mark.newest_engine
def test_a_repeated_attempt_reports_a_commit_whose_snapshot_has_expired(compacting: Lake) -> None:
    compacting.land("orders/1.csv", "id\n1\n2\n")
    written = compacting.write(run="told").ok()["write"]
    assert numbers(compacting) == [2], "the commit itself has gone"

    again = compacting.write(run="told").ok()["write"]

    assert (written["rows"], written["committedSnapshot"]) == (2, 1)
    assert again == {**written, "alreadyCommitted": True}


@pytest.mark.newest_engine
def test_a_repeated_attempt_is_checked_although_its_commit_has_expired(compacting: Lake) -> None:
    listed = compacting.land("orders/1.csv", "id\n1\n").stat().st_mtime
    compacting.write(run="told", once=True).ok()
    replaced = compacting.land("orders/1.csv", "id\n500\n")
    os.utime(replaced, (listed + 1, listed + 1))

    compacting.write(run="told", once=True).unknown()


@pytest.mark.newest_engine
def test_a_failing_expiry_fails_no_load_and_is_repeated_later(compacting: Lake) -> None:
    broken = compacting.ledger_of("other") / "run-1.json"
    broken.parent.mkdir(parents=True)
    broken.write_text("{")
    compacting.land("orders/1.csv", "id\n1\n")

    assert compacting.write().ok()["write"]["rows"] == 1

    assert numbers(compacting) == [1, 2]
    broken.unlink()
    compacting.land("orders/2.csv", "id\n2\n")
    compacting.write().ok()
    assert numbers(compacting) == [4]


@pytest.mark.newest_engine
def test_a_write_only_table_expires_nothing(lake: Lake) -> None:
    lake.provision({"id": "BIGINT"}, keys=["id"], options={"bucket": "1", "write-only": "true", **KEEP_ONE}).ok()
    for number in (1, 2):
        lake.land(f"orders/{number}.csv", f"id\n{number}\n")
        lake.write().ok()

    assert numbers(lake) == [1, 2]


@pytest.mark.newest_engine
def test_expiry_checks_every_ledger_first(appending: Lake) -> None:
    """The write `gone` was removed from the manifest. Only its ledger is left."""
    committed = lose(appending, 1, run="lost-1")
    elsewhere = lose(appending, 2, run="lost-2", name="gone")
    never = lose(appending, 3, "after the ledger", run="lost-3", name="never")

    assert appending.expire(numRetainedMin=1, numRetainedMax=1).ok()["expired"] == 1

    assert [marks(each) for each in (committed, elsewhere, never)] == [[".committed"], [".committed"], [".abandoned"]]
    again = appending.write(run="lost-1", path="import/", mode="Append").ok()["write"]
    assert again["alreadyCommitted"] is True
    assert sorted(row["id"] for row in appending.rows()) == [1, 2]


@pytest.mark.newest_engine
def test_an_entry_that_cannot_be_resolved_stays_open_and_blocks_no_expiry(appending: Lake) -> None:
    ledger = lose(appending, 1, run="lost")
    appending.outside(
        "INSERT INTO outside.shop.orders VALUES (100)",
        "CALL outside.sys.expire_snapshots(table => 'shop.orders', retain_min => 1, retain_max => 1)",
        "INSERT INTO outside.shop.orders VALUES (101)",
    )

    assert appending.expire(numRetainedMin=1, numRetainedMax=1).ok()["expired"] == 1

    assert marks(ledger) == []
    appending.write(path="import/", mode="Append").unknown()
