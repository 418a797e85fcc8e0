"""Every file is loaded exactly once, whenever the driver is killed.

On the newest engine a real driver is killed at each moment. On the others the worker stops there (kill_points).
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.spark.lake import Lake
from tests.support.spark_process import kill_driver_at

APPENDING = {"options": {"bucket": "-1"}}
EXPIRE_ALL_BUT_ONE = "CALL outside.sys.expire_snapshots(table => 'shop.orders', retain_min => 1, retain_max => 1)"
"""The decision of a user who does not know ledgers."""


@pytest.fixture
def appending(lake: Lake) -> Lake:
    """A table without a primary key, which shows a row twice if it is loaded twice."""
    lake.provision({"id": "BIGINT"}, **APPENDING).ok()
    return lake


def land(lake: Lake, number: int) -> Path:
    return lake.land(f"orders/{number}.csv", f"id\n{number}\n")


def ids(lake: Lake) -> list[int]:
    return sorted(row["id"] for row in lake.rows())


def marks(lake: Lake) -> list[str]:
    """Returns the mark of each attempt in the ledger, in order."""
    return [
        path.suffix for path in sorted(lake.ledger_directory.iterdir()) if path.suffix in (".committed", ".abandoned")
    ]


MOMENTS: list[tuple[str, bool, list[str]]] = [
    ("before the ledger", False, [".committed"]),
    ("after the ledger", False, [".abandoned", ".committed"]),
    ("after the commit", True, [".committed"]),
    ("after the mark", True, [".committed"]),
]
"""The moment of the kill, whether the next attempt finds the rows in the table, and the marks of the attempts."""


@pytest.mark.some_rows(2)
@pytest.mark.newest_engine
@pytest.mark.parametrize(("moment", "repeated", "outcome"), MOMENTS)
def test_a_driver_killed_at_a_marked_moment(appending: Lake, moment: str, repeated: bool, outcome: list[str]) -> None:
    job = first_write(appending)
    kill_driver_at(moment, appending.home, appending.save(job), appending.directory)
    loads_once(appending, repeated, outcome)


@pytest.mark.some_rows(3)
@pytest.mark.parametrize(("moment", "repeated", "outcome"), MOMENTS)
def test_a_driver_that_stops_at_a_marked_moment(
    appending: Lake, moment: str, repeated: bool, outcome: list[str]
) -> None:
    appending.die_at(moment, first_write(appending))
    loads_once(appending, repeated, outcome)


def first_write(appending: Lake) -> dict[str, Any]:
    land(appending, 1)
    return appending.write_job(run="import-1", mode="Append")


def loads_once(appending: Lake, repeated: bool, outcome: list[str]) -> None:
    """Checks that the next attempt and the next run load only files that are not loaded."""
    again = appending.write(run="import-1", mode="Append").ok()["write"]

    assert again["alreadyCommitted"] is repeated
    assert again["committedSnapshot"] == 1
    assert marks(appending) == outcome
    land(appending, 2)
    appending.write(mode="Append").ok()
    assert ids(appending) == [1, 2]


@pytest.mark.newest_engine
@pytest.mark.parametrize("moment", ["after the ledger", "after the commit"])
def test_the_next_run_resolves_the_entry_of_a_lost_run(appending: Lake, moment: str) -> None:
    land(appending, 1)
    appending.die_at(moment, appending.write_job(run="lost", mode="Append"))
    land(appending, 2)

    appending.write(run="next", mode="Append").ok()

    assert ids(appending) == [1, 2]


@pytest.mark.newest_engine
def test_with_an_expired_snapshot_the_result_is_unknown_and_nothing_is_repeated(appending: Lake) -> None:
    land(appending, 1)
    appending.die_at("after the commit", appending.write_job(run="lost", mode="Append"))
    appending.outside("INSERT INTO outside.shop.orders VALUES (100)", EXPIRE_ALL_BUT_ONE)
    land(appending, 2)

    _, remedy = appending.write(run="lost", mode="Append").unknown()

    assert ids(appending) == [1, 100]
    decision = next(word for word in remedy.split() if word.endswith(".committed,"))
    Path(decision.removeprefix("file:").rstrip(",")).touch()
    assert appending.write(run="lost", mode="Append").ok()["write"]["alreadyCommitted"] is True
    appending.write(run="next", mode="Append").ok()
    assert ids(appending) == [1, 2, 100], "the decision of the user is kept"


@pytest.mark.newest_engine
def test_new_loads_new_and_replaced_files_and_all_loads_all(appending: Lake) -> None:
    land(appending, 1)
    assert appending.write(mode="Append").ok()["write"]["files"] == 1
    assert appending.write(mode="Append").ok()["write"]["skipped"] is True
    land(appending, 2)
    assert appending.write(mode="Append").ok()["write"]["files"] == 1
    appending.land("orders/1.csv", "id\n10\n11\n")
    assert appending.write(mode="Append").ok()["write"]["files"] == 1
    assert ids(appending) == [1, 2, 10, 11]

    assert appending.write(mode="Append", select="All").ok()["write"]["files"] == 2

    assert ids(appending) == [1, 2, 2, 10, 10, 11, 11]


@pytest.mark.newest_engine
def test_once_loads_once_per_hash(appending: Lake) -> None:
    land(appending, 1)
    appending.write(mode="Append", once=True, select="All").ok()

    again = appending.write(mode="Append", once=True, select="All").ok()["write"]
    assert (again["alreadyCommitted"], again["files"]) == (True, 0)
    appending.write(mode="Append", once=True, select="All", hash="h2").ok()

    assert ids(appending) == [1, 1]


@pytest.mark.newest_engine
def test_a_scheduled_write_does_not_count_as_a_write_once(appending: Lake) -> None:
    land(appending, 1)
    appending.write(mode="Append", select="All").ok()

    once = appending.write(mode="Append", select="All", once=True).ok()["write"]

    assert (once["alreadyCommitted"], once["files"]) == (False, 1)


@pytest.mark.newest_engine
def test_an_entry_of_an_earlier_version_counts_as_a_write_once(appending: Lake) -> None:
    land(appending, 1)
    appending.write(mode="Append", select="All").ok()
    (entry,) = appending.ledger_directory.glob("*.json")
    old = json.loads(entry.read_text())
    del old["once"]
    entry.write_text(json.dumps(old))

    assert appending.write(mode="Append", select="All", once=True).ok()["write"]["alreadyCommitted"] is True


@pytest.mark.newest_engine
def test_an_older_image_accepts_fields_of_a_newer_image_in_the_ledger(appending: Lake) -> None:
    land(appending, 1)
    written = appending.write(run="newer", mode="Append").ok()["write"]
    (entry,), (marker,) = (list(appending.ledger_directory.glob(f"*.{kind}")) for kind in ("json", "committed"))
    newer = json.loads(entry.read_text())
    newer["files"] = [[*file, "more"] for file in newer["files"]]
    entry.write_text(json.dumps({**newer, "more": 1}))
    commits = [{**commit, "more": 1} for commit in json.loads(marker.read_text())["commits"]]
    marker.write_text(json.dumps({"commits": commits, "more": 1}))
    folded = {"table": newer["table"], "files": newer["files"], "hashes": [], "more": 1}
    (appending.ledger_directory / "folded-1.json").write_text(json.dumps(folded))

    assert appending.write(run="older", mode="Append").ok()["write"]["skipped"] is True
    again = appending.write(run="newer", mode="Append").ok()["write"]
    assert again == {**written, "alreadyCommitted": True}


@pytest.mark.newest_engine
def test_a_moved_location_loads_only_what_is_new_there(appending: Lake) -> None:
    land(appending, 1)
    land(appending, 2)
    appending.write(mode="Append", locationName="landing").ok()
    moved = appending.directory / "moved"
    shutil.copytree(appending.directory / "landing", moved)  # with the times of the files
    (moved / "orders" / "2.csv").write_text("id\n20\n21\n")

    again = appending.write(mode="Append", location=moved.as_uri(), locationName="landing").ok()["write"]

    assert (again["files"], ids(appending)) == (1, [1, 2, 20, 21])


@pytest.mark.newest_engine
def test_files_without_rows_create_no_snapshot_and_count_as_loaded(appending: Lake) -> None:
    appending.land("orders/1.csv", "id\n")

    written = appending.write(mode="Append").ok()["write"]

    assert (written["files"], written["rows"], "committedSnapshot" in written) == (1, 0, False)
    assert appending.write(mode="Append").ok()["write"]["skipped"] is True


@pytest.mark.newest_engine
def test_a_recreated_table_is_loaded_again(appending: Lake) -> None:
    land(appending, 1)
    appending.write(mode="Append").ok()
    appending.outside("DROP TABLE outside.shop.orders")
    appending.provision({"id": "BIGINT"}, **APPENDING).ok()

    appending.write(mode="Append").ok()

    assert ids(appending) == [1]


@pytest.mark.newest_engine
def test_many_entries_are_merged_and_still_count(appending: Lake) -> None:
    """52 commits would take minutes, so the test writes all entries but two itself."""
    land(appending, 0)
    appending.write(mode="Append").ok()
    entry = next(appending.ledger_directory.glob("*.json"))
    old = json.loads(entry.read_text())
    for number in range(1, 51):
        path = land(appending, number)
        version = str(path.stat().st_mtime_ns // 1_000_000)
        listed = [[f"file:{path}", path.stat().st_size, version]]
        name = f"old-{number:02}-1"
        document = {**old, "name": name, "commit_user": name, "files": listed}
        (appending.ledger_directory / f"{name}.json").write_text(json.dumps(document))
        (appending.ledger_directory / f"{name}.committed").write_text("{}")
    once = appending.ledger_directory / "old-50-1.json"
    once.write_text(json.dumps({**json.loads(once.read_text()), "once": True, "hash": "done"}))
    (appending.ledger_directory / "failed-1.json").write_text(json.dumps({**old, "name": "failed-1"}))
    (appending.ledger_directory / "failed-1.abandoned").write_text("{}")
    land(appending, 51)

    assert appending.write(run="last", mode="Append").ok()["write"]["files"] == 1

    left = sorted(path.name for path in appending.ledger_directory.iterdir() if not path.name.startswith("."))
    assert left == ["folded-1.json", "last-uid-last-1.committed", "last-uid-last-1.json"]
    assert json.loads((appending.ledger_directory / "folded-1.json").read_text())["hashes"] == ["done"]
    assert appending.write(mode="Append").ok()["write"]["skipped"] is True
    assert appending.write(run="last", mode="Append").ok()["write"]["alreadyCommitted"] is True
    assert ids(appending) == [0, 51]


@pytest.mark.newest_engine
def test_kill_driver_at_leaves_no_process(appending: Lake) -> None:
    """A process that kill_driver_at left alive would commit during the next run."""
    land(appending, 1)
    job = appending.save(appending.write_job(mode="Append"))
    kill_driver_at("before the ledger", appending.home, job, appending.directory)

    alive = subprocess.run(["pgrep", "-f", str(job)], capture_output=True, text=True, check=False)
    assert alive.stdout == ""
