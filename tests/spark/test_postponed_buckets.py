"""Buckets of type Postpone: each partition gets its number with its first write. A compaction keeps each key once."""

from __future__ import annotations

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.core.spec.desired_table import desired_table
from paimon_operator.core.validation.table import broken_rules
from tests.spark.lake import Lake
from tests.support import builders, lake_reader

COLUMNS = {"id": "BIGINT", "v": "INT", "w": "STRING"}
KEYS = 60
ROWS = [{"id": key, "v": 3, "w": None} for key in range(KEYS)]


def postponed(lake: Lake, **more: str) -> bool:
    """Creates the table, or shows that the engine has no such buckets."""
    schema = {"columns": [{"name": n, "type": t} for n, t in COLUMNS.items()], "primaryKeys": ["id"]}
    table = builders.table(schema=schema, bucket={"type": "Postpone"}, compaction={"mode": "Dedicated"})
    context = builders.context(table, builders.catalog(engine=lake.engine.id))
    options = desired_table(context.spec, context.effective).options | more
    if not context.engine.has_postponed_buckets:
        assert [error.reason for error in broken_rules(context)] == [Reason.UNSUPPORTED_BY_ENGINE]
        assert "number of buckets" in lake.provision(COLUMNS, keys=["id"], options=options).refused("TableRefused")
        return False
    assert broken_rules(context) == ()
    assert lake.provision(COLUMNS, keys=["id"], options=options).ok()["table"]["bucketMode"] == "Postpone"
    return True


def write_all_keys(lake: Lake, value: int) -> None:
    """Writes each key, from files of two headers, so that Spark reads two partitions and the table has two buckets."""
    lines = [f"{key},{value}\n" for key in range(KEYS)]
    lake.land(f"orders/{value}-a.csv", "id,v\n" + "".join(lines[::2]))
    lake.land(f"orders/{value}-b.csv", "v,id\n" + "".join(f"{value},{key}\n" for key in range(1, KEYS, 2)))
    lake.write().ok()


def buckets(lake: Lake) -> set[str]:
    return {path.name for path in lake.table_directory.glob("bucket-*")}


@pytest.mark.parametrize("strategy", ["Full", "Minor"])
def test_a_compaction_leaves_each_key_once_in_its_bucket_also_for_later_writes(lake: Lake, strategy: str) -> None:
    if not postponed(lake):
        return
    for value in range(3):
        write_all_keys(lake, value)
    assert buckets(lake) == {"bucket-0", "bucket-1"}

    compacted = lake.compact(strategy=strategy).ok()

    assert compacted["before"]["sortedRunsMax"] == 3
    assert compacted["after"]["sortedRunsMax"] == (1 if strategy == "Full" else 3)
    write_all_keys(lake, 3)
    assert (buckets(lake), lake.rows()) == ({"bucket-0", "bucket-1"}, ROWS)
    lake.compact().ok()
    assert lake.rows() == ROWS


def test_partitions_with_different_numbers_of_buckets_are_compacted(lake: Lake) -> None:
    columns = {"id": "BIGINT", "day": "DATE", "shop": "STRING", "v": "INT"}
    options = {"bucket": "-2", "write-only": "true"}
    made = lake.provision(columns, keys=["day", "shop", "id"], partitions=["day", "shop"], options=options)
    if not builders.engines()[lake.engine.id].has_postponed_buckets:
        made.refused("TableRefused")
        return
    for value in range(2):
        one = "".join(f"{key},2026-01-01,it's,{value}\n" for key in range(20))
        lake.land("orders/a.csv", f"id,day,shop,v\n{one}")
        lake.write().ok()
        even = "".join(f"{key},2026-01-02,b,{value}\n" for key in range(0, 20, 2))
        odd = "".join(f"{value},{key},2026-01-02,b\n" for key in range(1, 20, 2))
        lake.land("orders/a.csv", f"id,day,shop,v\n{even}")
        lake.land("orders/b.csv", f"v,id,day,shop\n{odd}")
        lake.write().ok()
    assert len(list(lake.table_directory.glob("day=*/shop=*/bucket-*"))) == 3

    compacted = lake.compact().ok()

    assert (compacted["before"]["sortedRunsMax"], compacted["after"]["sortedRunsMax"]) == (2, 1)
    assert sorted((row["shop"], row["id"], row["v"]) for row in lake.rows()) == [
        (shop, key, 1) for shop in ("b", "it's") for key in range(20)
    ]


@pytest.mark.parametrize("option", [{"merge-engine": "first-row"}, {"deletion-vectors.enabled": "true"}], ids=str)
def test_rows_that_only_a_compaction_shows_are_invisible_until_then(lake: Lake, option: dict[str, str]) -> None:
    if not postponed(lake, **option):
        return
    write_all_keys(lake, 3)
    assert lake.rows() == [], "so that compaction.mode Inline is refused: nothing would ever compact"

    lake.compact().ok()

    assert lake.rows() == ROWS


def test_without_fixed_buckets_for_batches_the_newest_row_is_lost(lake: Lake) -> None:
    """The reason why the option postpone.batch-write-fixed-bucket is refused, and bucket.type Postpone has none."""
    if not postponed(lake, **{"postpone.batch-write-fixed-bucket": "false"}):
        return
    for value in (1, 2, 3):
        lake.land(f"orders/{value}.csv", f"id,v\n1,{value}\n")
        lake.write().ok()
    lake.outside("CALL outside.sys.compact(table => 'shop.orders')")
    assert [row["v"] for row in lake_reader.read_rows(lake.warehouse, "shop", "orders")] != [3]
