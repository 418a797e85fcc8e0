"""A compaction is proved to have changed no row; one that has is found, whatever it changed."""

# ruff: noqa: E501, S608  (a table of statements that no user writes)

from __future__ import annotations

from typing import Any

import pytest

from tests.spark.lake import Ended, Lake
from tests.support.kill_points import VERIFICATION_MOMENTS

OPTIONS = {"bucket": "4", "write-only": "true"}
SAMPLE = {"whole": False, "rollsBack": False, "uncompared": []}
ALWAYS = SAMPLE | {"whole": True}
TABLE = "paimon.shop.orders"


def provision(lake: Lake, **more: Any) -> None:
    columns = {"day": "STRING", "id": "BIGINT", "v": "INT"}
    usual: dict[str, Any] = {"keys": ["day", "id"], "partitions": ["day"], "options": OPTIONS}
    lake.provision(columns, **usual | more).ok()


def load(lake: Lake, number: int, ids: range = range(40), mode: str = "Upsert") -> None:
    """One commit of rows into both partitions."""
    lines = "".join(f"{day},{id_},{number}\n" for id_ in ids for day in ("mon", "tue"))
    lake.land(f"orders/{number}.csv", f"day,id,v\n{lines}")
    lake.write(path=f"orders/{number}.csv", mode=mode).ok()


@pytest.fixture
def loaded(lake: Lake) -> Lake:
    """Two commits of the same keys into both partitions."""
    provision(lake)
    for number in range(2):
        load(lake, number)
    return lake


def job_of(lake: Lake, verify: dict[str, Any], **more: Any) -> dict[str, Any]:
    return lake.compact_job(verify=verify, **more) | {"sinceSnapshot": 0}


def corrupt(lake: Lake, statement: str, verify: dict[str, Any] = ALWAYS, **request: Any) -> Ended:
    """Performs a compaction that changes rows by this statement."""
    return lake.perform(job_of(lake, verify), corrupt=statement, warehouse=lake.warehouse, **request)


def difference_of(ended: Ended) -> dict[str, Any]:
    """What the run has found: it must have failed for that reason."""
    assert "other rows" in ended.refused("VerificationFailed")
    found: dict[str, Any] = ended.result["verification"]["difference"]
    return found


def tags(lake: Lake) -> dict[str, int]:
    """The tags and their snapshots, by an independent reader."""
    return {each["tag_name"]: each["snapshot_id"] for each in lake.read("orders$tags")}


@pytest.mark.parametrize(
    ("verify", "buckets"), [(SAMPLE, 8), (ALWAYS, None)], ids=["a sample of buckets", "the whole table"]
)
def test_a_compaction_that_changes_no_row(loaded: Lake, verify: dict[str, Any], buckets: int | None) -> None:
    before = sorted(map(str, loaded.rows()))
    done = loaded.perform(job_of(loaded, verify)).ok()["verification"]
    assert (done["commits"], done["rows"], done.get("buckets")) == (1, 80, buckets)
    assert sorted(map(str, loaded.rows())) == before
    assert tags(loaded) == {}


def test_a_run_without_a_commit_compares_nothing(loaded: Lake) -> None:
    loaded.compact().ok()
    assert "verification" not in loaded.perform(job_of(loaded, ALWAYS)).ok()


CORRUPTIONS = {
    "a row is lost": f"DELETE FROM {TABLE} WHERE day = 'mon' AND id = 3",
    "a row is new": f"INSERT INTO {TABLE} VALUES ('mon', 99, 0)",
    "a value is changed": f"INSERT INTO {TABLE} VALUES ('mon', 3, 77)",
    "a value is lost": f"INSERT INTO {TABLE} VALUES ('mon', 3, CAST(NULL AS INT))",
    "a partition is lost": f"DELETE FROM {TABLE} WHERE day = 'tue' AND id >= 0",
}
"""None names a partition alone: engine 0.9 drops one under a random commit user, as no run of ours commits."""


@pytest.mark.engines_in_turn("sentence")
@pytest.mark.parametrize("sentence", CORRUPTIONS)
def test_a_corrupting_compaction_is_found(loaded: Lake, sentence: str) -> None:
    before = sorted(map(str, loaded.rows()))
    found = difference_of(corrupt(loaded, CORRUPTIONS[sentence]))
    assert found["before"] == 2
    assert found["rolledBack"] is False
    assert tags(loaded) == {found["tag"]: 2}
    assert sorted(map(str, loaded.rows())) != before, "without Rollback the table keeps the rows"


@pytest.mark.long
def test_a_lost_partition_is_found_in_a_sample(loaded: Lake) -> None:
    assert difference_of(corrupt(loaded, CORRUPTIONS["a partition is lost"], SAMPLE))["before"] == 2


def test_by_policy_the_table_is_rolled_back(loaded: Lake) -> None:
    before = sorted(map(str, loaded.rows()))
    found = difference_of(corrupt(loaded, CORRUPTIONS["a row is lost"], ALWAYS | {"rollsBack": True}))
    assert found["rolledBack"] is True
    assert loaded.snapshots()[-1]["snapshot_id"] == found["before"] == 2
    assert sorted(map(str, loaded.rows())) == before
    load(loaded, 5)
    assert len(loaded.rows()) == 80, "writes go on after the rollback"


@pytest.mark.parametrize("rolls_back", [False, True])
def test_a_commit_after_the_corruption_is_not_lost(loaded: Lake, *, rolls_back: bool) -> None:
    verify = ALWAYS | {"rollsBack": rolls_back}
    then = "INSERT INTO outside.shop.orders VALUES ('mon', 500, 1)"
    found = difference_of(corrupt(loaded, CORRUPTIONS["a row is lost"], verify, then=then))
    assert found["rolledBack"] is False
    assert any(row["id"] == 500 for row in loaded.rows())


@pytest.mark.parametrize(
    ("then", "said"),
    [
        ("CALL outside.sys.reset_consumer('shop.orders', 'reader', 4)", "consumer reader goes on at snapshot 4"),
        ("CALL outside.sys.create_tag('shop.orders', 'month-end', 4)", "delete tag month-end of snapshot 4"),
    ],
)
def test_what_others_would_lose_by_a_rollback_is_not_rolled_back(loaded: Lake, then: str, said: str) -> None:
    """Snapshot 3 is the compaction, 4 the corruption."""
    ended = corrupt(loaded, CORRUPTIONS["a row is lost"], ALWAYS | {"rollsBack": True}, then=then)
    assert difference_of(ended)["rolledBack"] is False
    assert said in ended.refused("VerificationFailed")
    assert loaded.snapshots()[-1]["snapshot_id"] == 4


@pytest.mark.long
def test_commits_of_others_are_no_difference(loaded: Lake) -> None:
    then = "INSERT INTO outside.shop.orders VALUES ('mon', 500, 1)"
    ended = corrupt(loaded, "SELECT 1", then=then)
    assert ended.ok()["verification"]["rows"] == 80
    assert len(loaded.rows()) == 81


@pytest.mark.engines_in_turn("moment")
@pytest.mark.parametrize("moment", [each for each in VERIFICATION_MOMENTS if "rollback" not in each])
def test_a_killed_attempt_is_repeated_with_the_same_end(loaded: Lake, moment: str) -> None:
    job = job_of(loaded, ALWAYS)
    ended = loaded.perform(job, corrupt=CORRUPTIONS["a row is lost"], warehouse=loaded.warehouse, die=moment)
    assert ended.result == {"died": moment}
    snapshots = loaded.snapshots()
    found = difference_of(loaded.perform(job))
    assert (found["before"], tags(loaded)) == (2, {found["tag"]: 2})
    assert loaded.snapshots() == snapshots, "the next attempt compacts nothing before it has compared"


def test_a_rollback_before_a_kill_is_reported(loaded: Lake) -> None:
    job = job_of(loaded, ALWAYS | {"rollsBack": True})
    statement = CORRUPTIONS["a row is lost"]
    loaded.perform(job, corrupt=statement, warehouse=loaded.warehouse, die="after the rollback")
    found = difference_of(loaded.perform(job))
    assert (found["before"], found["rolledBack"]) == (2, True)


NESTED = {
    "id": "BIGINT",
    "pair": "ROW<a INT, b INT>",
    "pairs": "ARRAY<ROW<a INT, b INT>>",
    "list": "ARRAY<INT>",
    "map": "MAP<STRING, INT>",
    "at": "TIMESTAMP(6)",
    "events": "MAP<STRING, TIMESTAMP(6)>",
}
BEFORE = (
    "1, named_struct('a', CAST(NULL AS INT), 'b', 1), array(named_struct('a', CAST(NULL AS INT), 'b', 1)),"
    " array(CAST(NULL AS INT), 1), map('x', 1, 'y', CAST(NULL AS INT)), TIMESTAMP_NTZ'2026-11-25 10:00:00.000001',"
    " map('x', TIMESTAMP_NTZ'2026-11-25 10:00:00.000001')"
)
CHANGES = {
    "a NULL moved in a struct": ("named_struct('a', CAST(NULL AS INT), 'b', 1), array", "named_struct('a', 1, 'b', CAST(NULL AS INT)), array"),
    "a NULL moved in a list of structs": ("array(named_struct('a', CAST(NULL AS INT), 'b', 1))", "array(named_struct('a', 1, 'b', CAST(NULL AS INT)))"),
    "a NULL moved in a list": ("array(CAST(NULL AS INT), 1)", "array(1, CAST(NULL AS INT))"),
    "a value moved in a map": ("map('x', 1, 'y', CAST(NULL AS INT))", "map('x', CAST(NULL AS INT), 'y', 1)"),
    "a microsecond": ("10:00:00.000001',", "10:00:00.000002',"),
    "a microsecond in a map": ("map('x', TIMESTAMP_NTZ'2026-11-25 10:00:00.000001')", "map('x', TIMESTAMP_NTZ'2026-11-25 10:00:00.000002')"),
}  # fmt: skip


def nested(lake: Lake) -> None:
    """A keyed table with one row of nested values, in two commits."""
    lake.provision(NESTED, keys=["id"], options={"bucket": "1", "write-only": "true"}).ok()
    for _ in range(2):
        lake.outside(f"INSERT INTO outside.shop.orders VALUES ({BEFORE})")


@pytest.mark.some_rows(3)
@pytest.mark.engines_in_turn("sentence")
@pytest.mark.parametrize("sentence", CHANGES)
def test_a_change_inside_a_nested_value_is_found(lake: Lake, sentence: str) -> None:
    nested(lake)
    old, new = CHANGES[sentence]
    assert BEFORE.count(old) == 1
    assert (
        "checksum" in difference_of(corrupt(lake, f"INSERT INTO {TABLE} VALUES ({BEFORE.replace(old, new)})"))["found"]
    )


@pytest.mark.parametrize(
    ("sentence", "old", "new"),
    [
        ("the same row again", "1, named_struct", "1, named_struct"),
        ("the entries of a map in another order", "map('x', 1, 'y', CAST(NULL AS INT))", "map('y', CAST(NULL AS INT), 'x', 1)"),
    ],
)  # fmt: skip
def test_the_same_values_are_no_difference(lake: Lake, sentence: str, old: str, new: str) -> None:
    nested(lake)
    ended = corrupt(lake, f"INSERT INTO {TABLE} VALUES ({BEFORE.replace(old, new)})")
    assert "difference" not in ended.ok()["verification"], sentence


@pytest.mark.long
def test_zeros_of_both_signs_and_every_nan_are_the_same(lake: Lake) -> None:
    lake.provision({"id": "BIGINT", "x": "DOUBLE"}, keys=["id"], options={"bucket": "1", "write-only": "true"}).ok()
    lake.outside("INSERT INTO outside.shop.orders VALUES (1, CAST('-0.0' AS DOUBLE)), (2, CAST('NaN' AS DOUBLE))")
    lake.outside("INSERT INTO outside.shop.orders VALUES (3, 1.5)")
    statement = f"INSERT INTO {TABLE} VALUES (1, CAST('0.0' AS DOUBLE)), (2, CAST('NaN' AS DOUBLE))"
    assert "difference" not in corrupt(lake, statement).ok()["verification"]


@pytest.mark.long
def test_after_an_edit_the_columns_of_both_snapshots_are_compared(loaded: Lake) -> None:
    columns = {"day": "STRING", "id": "BIGINT", "v": "BIGINT", "w": "STRING"}
    loaded.provision(columns, keys=["day", "id"], partitions=["day"], options=OPTIONS).ok()
    done = loaded.perform(job_of(loaded, ALWAYS)).ok()["verification"]
    assert done["rows"] == 80
    load(loaded, 3)
    assert difference_of(corrupt(loaded, CORRUPTIONS["a row is lost"].replace("id = 3", "id = 4")))


@pytest.mark.long
def test_a_table_without_keys_and_partitions(lake: Lake) -> None:
    lake.provision({"id": "BIGINT", "v": "INT"}, options={"bucket": "-1", "write-only": "true"}).ok()
    for number in range(3):
        lake.outside(f"INSERT INTO outside.shop.orders VALUES ({number}, {number}), ({number}, {number})")
    done = lake.perform(job_of(lake, SAMPLE)).ok()["verification"]
    assert (done["rows"], done.get("buckets")) == (6, None)
    for number in range(3):
        lake.outside(f"INSERT INTO outside.shop.orders VALUES ({number}, {number})")
    again = corrupt(lake, f"INSERT INTO {TABLE} VALUES (1, 1)", SAMPLE)
    assert "rows 9 -> 10" in difference_of(again)["found"], "a row that appears once more"


@pytest.mark.long
def test_single_buckets_are_compared_where_spark_can_ask_for_their_rows(lake: Lake) -> None:
    options = {"bucket": "16", "bucket-key": "id", "write-only": "true"}
    lake.provision({"id": "BIGINT", "v": "INT"}, options=options).ok()
    for number in range(4):
        lake.outside(f"INSERT INTO outside.shop.orders SELECT id, {number} FROM range(200)")
    done = lake.perform(job_of(lake, SAMPLE)).ok()["verification"]
    if lake.engine.id == "paimon-0.9":
        assert (done["rows"], done.get("buckets")) == (800, None)
    else:
        assert done["buckets"] == 8
        assert 0 < done["rows"] < 700


@pytest.mark.long
def test_a_column_that_is_left_out_may_change(loaded: Lake) -> None:
    verify = ALWAYS | {"uncompared": ["v"]}
    assert "difference" not in corrupt(loaded, CORRUPTIONS["a value is changed"], verify).ok()["verification"]
    assert difference_of(corrupt(loaded, CORRUPTIONS["a row is new"], verify))
