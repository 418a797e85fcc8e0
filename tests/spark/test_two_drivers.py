"""A driver that was taken for dead can still commit, during the attempt that replaced it."""

from __future__ import annotations

from typing import Any

import pytest

from spark_apps.catalog.snapshots import Commit
from spark_apps.loading.ambiguous_loads import two_writers
from tests.spark.lake import Lake

KINDS: dict[str, dict[str, Any]] = {
    "append, unaware": {"options": {"bucket": "-1"}},
    "append, fixed": {"options": {"bucket": "2", "bucket-key": "id"}},
    "key, fixed": {"keys": ["id"], "options": {"bucket": "2", "num-sorted-run.compaction-trigger": "1"}},
    "key, dynamic": {"keys": ["id"], "options": {"bucket": "-1", "dynamic-bucket.target-row-num": "2"}},
    "key, dynamic over partitions": {"keys": ["id"], "partitions": ["dt"], "options": {"bucket": "-1"}},
    "key, compacts at every commit": {"keys": ["id"], "options": {"bucket": "1", "changelog-producer": "lookup"}},
}


def commit_of_earlier_attempt(lake: Lake, run: str) -> None:
    """Commits like the driver of an earlier attempt of `run` that is still alive."""
    prefix = f"{run}-uid-{run}"
    lake.outside(f"SET `spark.paimon.commit.user-prefix`={prefix}", "INSERT INTO outside.shop.orders VALUES (1)")


def give_up(lake: Lake, **write: Any) -> None:
    """Marks the entry of the first attempt of run `import-1` as abandoned."""
    lake.land("orders/1.csv", "id\n1\n")
    lake.die_at("after the ledger", lake.write_job(run="import-1", **write))
    (entry,) = lake.ledger_directory.glob("*.json")
    entry.with_suffix(".abandoned").write_text("{}")


@pytest.fixture
def given_up(lake: Lake) -> Lake:
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1"}).ok()
    give_up(lake, mode="Append")
    return lake


@pytest.fixture
def keyed(lake: Lake) -> Lake:
    """A table with a primary key, which shows a row once even if it is loaded twice."""
    lake.provision({"id": "BIGINT"}, keys=["id"], options={"bucket": "1"}).ok()
    return lake


@pytest.mark.newest_engine
def test_both_commits_are_named_and_the_load_is_not_repeated(given_up: Lake) -> None:
    commit_of_earlier_attempt(given_up, "import-1")

    message, remedy = given_up.write(run="import-1", mode="Append").unknown()

    assert "1 and 2" in message
    assert "1 and 2" in remedy
    assert remedy.index("set externalWriters to Paused") < remedy.index("delete the run"), "the user writes too"
    given_up.write(run="import-1", mode="Append").unknown()
    assert given_up.write(run="import-2", mode="Append").ok()["write"]["skipped"] is True
    assert [row["id"] for row in given_up.rows()] == [1, 1]


@pytest.mark.newest_engine
def test_the_retry_of_an_attempt_that_died_before_its_result_reports_the_load(given_up: Lake) -> None:
    commit_of_earlier_attempt(given_up, "import-1")
    given_up.die_at("after the mark", given_up.write_job(run="import-1", mode="Append"))

    given_up.write(run="import-1", mode="Append").unknown()


@pytest.mark.newest_engine
def test_rows_loaded_twice_are_accepted_in_a_keyed_table(keyed: Lake) -> None:
    give_up(keyed)
    commit_of_earlier_attempt(keyed, "import-1")

    keyed.write(run="import-1").ok()

    assert len(keyed.snapshots()) == 2
    assert [row["id"] for row in keyed.rows()] == [1]


@pytest.mark.newest_engine
def test_older_rows_that_were_possibly_loaded_last_are_reported(keyed: Lake) -> None:
    give_up(keyed)
    commit_of_earlier_attempt(keyed, "import-1")
    keyed.land("orders/1.csv", "id\n1\n2\n")

    keyed.write(run="import-1").unknown()


@pytest.mark.newest_engine
def test_two_drivers_of_a_write_once_are_reported(keyed: Lake) -> None:
    give_up(keyed, once=True)
    commit_of_earlier_attempt(keyed, "import-1")

    keyed.write(run="import-1", once=True).unknown()


@pytest.mark.newest_engine
def test_a_commit_of_another_run_is_no_second_driver(given_up: Lake) -> None:
    commit_of_earlier_attempt(given_up, "import-10")

    given_up.write(run="import-1", mode="Append").ok()


@pytest.mark.parametrize("kind", KINDS)
def test_one_driver_creates_one_commit_with_data_in_every_kind_of_table(lake: Lake, kind: str) -> None:
    lake.provision({"id": "BIGINT", "dt": "STRING"}, **KINDS[kind]).ok()
    for number in (1, 2):
        lake.land(f"orders/{number}.csv", "id,dt\n" + "".join(f"{each},{each % 3}\n" for each in range(20)))
        mode = "Upsert" if "keys" in KINDS[kind] else "Append"
        lake.write(run=f"run-{number}", mode=mode).ok()

    with_data = [each for each in lake.snapshots() if each["commit_kind"] != "COMPACT"]
    assert [each["commit_user"].partition("_")[0] for each in with_data] == ["run-1-uid-run-1", "run-2-uid-run-2"]


def test_two_snapshots_of_one_commit_user_are_no_second_driver() -> None:
    assert two_writers([Commit(1, 5, "run_a", 7), Commit(2, 5, "run_a", 8)]) == []
    assert two_writers([Commit(1, 5, "run_a", 7), Commit(2, 5, "run_b", 8)]) == ["1", "2"]
