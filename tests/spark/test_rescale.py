"""A rescale on the real engines: each key once, none lost, and a run continues where a killed one was."""

from __future__ import annotations

import uuid
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from tests.spark.lake import Lake
from tests.spark.rescaled_table import COLUMNS, DAYS, load, partitioned, progress, rows_of


def buckets_of(lake: Lake) -> Counter[str]:
    """Partition -> its buckets that have files."""
    files = lake.read("orders$files")
    return Counter(partition for partition, _ in {(file["partition"], file["bucket"]) for file in files})


def test_rows_and_upserts_survive_more_and_fewer_buckets(lake: Lake) -> None:
    rows = partitioned(lake)

    assert progress(lake.rescale(8)) == (3, 3, True)
    assert rows_of(lake) == rows
    assert min(buckets_of(lake).values()) > 4

    load(lake, "3", [("tue", 4, "after"), ("tue", 400, "new")]).ok()
    rows = sorted([row for row in rows if row[:2] != ("tue", 4)] + [("tue", 4, "after"), ("tue", 400, "new")])
    assert rows_of(lake) == rows

    done = lake.rescale(3)
    assert progress(done) == (3, 3, True)
    assert (done.result["table"]["bucketCount"], done.result["table"].get("rescaling")) == (3, None)
    assert rows_of(lake) == rows
    assert max(buckets_of(lake).values()) == 3
    load(lake, "4", [(day, 5, "last") for day in DAYS]).ok()
    assert len(rows_of(lake)) == len(rows)


def test_each_run_rewrites_a_bounded_number_and_nothing_else_commits_in_between(lake: Lake) -> None:
    rows = partitioned(lake)

    first = lake.rescale(4, most=2)
    assert progress(first) == (2, 3, False)
    assert first.result["table"]["rescaling"] is True
    snapshots = len(lake.snapshots())
    lake.land("orders/3.csv", "day,id,v\nmon,1,twice\n")
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    expiry = lake.expire_partitions(now=tomorrow, expirationSeconds=1, strategy="UpdateTime")
    for refused in (lake.write(), lake.compact(), expiry):
        assert "rescaled" in refused.blocked("Rescaling")
    assert len(lake.snapshots()) == snapshots

    assert progress(lake.rescale(4, most=2)) == (3, 3, True)
    assert rows_of(lake) == rows
    lake.write().ok()
    assert rows_of(lake) == sorted([row for row in rows if row[:2] != ("mon", 1)] + [("mon", 1, "twice")])


def test_a_number_that_is_edited_back_in_the_middle_ends_with_that_number(lake: Lake) -> None:
    rows = partitioned(lake)
    assert progress(lake.rescale(4, most=1)) == (1, 3, False)

    back = lake.rescale(2)

    assert progress(back) == (3, 3, True)
    assert back.result["table"]["bucketCount"] == 2
    assert rows_of(lake) == rows


def test_commits_have_the_user_of_their_run_and_nothing_is_left_behind(lake: Lake) -> None:
    partitioned(lake)
    before = len(lake.snapshots())

    job = lake.rescale_job(4)
    lake.perform(job).ok()

    made = lake.snapshots()[before:]
    assert len(made) >= len(DAYS)
    assert all(each["commit_user"].startswith(job["commitUser"] + "_") for each in made)
    assert lake.read("orders$tags") == []
    schemas = lake.schemas()
    assert progress(lake.rescale(4)) == (3, 3, True)
    assert (len(lake.snapshots()), lake.schemas()) == (before + len(made), schemas), "nothing is left to do"


def test_the_tag_does_not_expire_by_the_time_that_the_table_gives_to_its_tags(lake: Lake) -> None:
    rows = partitioned(lake)
    lake.outside("alter table outside.shop.orders set tblproperties ('tag.default-time-retained' = '1 ms')")

    assert progress(lake.rescale(4, most=1)) == (1, 3, False)
    assert progress(lake.rescale(4)) == (3, 3, True)
    assert rows_of(lake) == rows


def test_partitions_with_unusual_keys_and_with_deleted_rows_only_are_rescaled(lake: Lake) -> None:
    columns = {"id": "BIGINT", "day": "DATE", "n": "INT", "name": "STRING", "m": "MAP<STRING, INT>"}
    lake.provision(columns, partitions=["day", "n", "name"], options={"bucket": "2", "bucket-key": "id"}).ok()
    lake.outside(
        "insert into outside.shop.orders select id, if(id % 2 = 0, date'2026-01-02', null), cast(id % 3 as int), "
        "if(id % 5 = 0, 'it''s \\\\ odd', null), map('a', 1) from range(40)"
    )
    before = sorted(map(str, lake.rows()))

    assert progress(lake.rescale(3)) == (12, 12, True)
    assert sorted(map(str, lake.rows())) == before


@pytest.mark.engines_in_turn("partitions")
@pytest.mark.parametrize("partitions", [["day"], []], ids=["partitioned", "whole"])
def test_rows_that_were_all_deleted_leave_no_files_in_the_old_number(lake: Lake, partitions: list[str]) -> None:
    lake.provision(COLUMNS, keys=["day", "id"], partitions=partitions, options={"bucket": "2"}).ok()
    load(lake, "1", [("mon", id_, "gone") for id_ in range(9)]).ok()
    lake.outside("delete from outside.shop.orders where v = 'gone'")

    assert lake.rescale(3).ok()["rescale"]["finished"]
    assert lake.read("orders$files") == []
    load(lake, "2", [("mon", id_, "new") for id_ in range(9)]).ok()
    assert len(rows_of(lake)) == 9


def test_a_table_without_data_and_without_partitions(lake: Lake) -> None:
    lake.provision(COLUMNS, keys=["id"], options={"bucket": "2"}).ok()
    assert progress(lake.rescale(4)) == (0, 0, True)

    load(lake, "1", [("mon", id_, "x") for id_ in range(20)]).ok()
    assert progress(lake.rescale(1)) == (1, 1, True)
    assert len(rows_of(lake)) == 20
    assert list(buckets_of(lake).values()) == [1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"bucket": "-1"}, "Dynamic"),
        ({"bucket": "2", "deletion-vectors.enabled": "true"}, "skip rows that are not compacted"),
        ({"bucket": "2", "merge-engine": "first-row"}, "first-row"),
    ],
)
def test_what_cannot_be_rescaled_is_refused_and_stays_as_it_is(lake: Lake, options: dict[str, str], words: str) -> None:
    lake.provision(COLUMNS, keys=["day", "id"], partitions=["day"], options=options).ok()
    load(lake, "1", [("mon", 1, "x")]).ok()
    schemas = lake.schemas()

    assert words in lake.rescale(4).refused("RescaleRefused")
    assert lake.schemas() == schemas
    load(lake, "2", [("mon", 2, "x")]).ok()


def test_a_commit_of_another_writer_in_between_stops_the_rescale(lake: Lake) -> None:
    partitioned(lake)
    lake.rescale(4, most=1).ok()
    lake.outside("insert overwrite outside.shop.orders partition (day = 'tue') select 7, 'theirs'")

    assert "during the rescale" in lake.rescale(4).refused("RescaleFailed")
    assert len(lake.read("orders$tags")) == 1


def test_a_table_that_differs_afterwards_is_reported_and_its_earlier_state_is_kept(lake: Lake) -> None:
    rows = partitioned(lake)
    lake.rescale(4, most=1).ok()
    ours = f"orders-write-0000000a-{uuid.uuid4()}"
    lake.outside(
        f"alter table outside.shop.orders set tblproperties ('commit.user-prefix' = '{ours}')",
        "insert overwrite outside.shop.orders partition (day = 'mon') select id, v from outside.shop.orders "
        "where day = 'mon' and id < 9",
        "alter table outside.shop.orders unset tblproperties ('commit.user-prefix')",
    )

    said = lake.rescale(4).refused("RescaleFailed")
    assert 'partition {"day":"mon"}: rows 30 -> 9, keys 30 -> 9' in said
    lake.rescale(4).refused("RescaleFailed")
    lake.land("orders/3.csv", "day,id,v\nmon,1,twice\n")
    lake.write().blocked("Rescaling")

    (tag,) = (row["tag_name"] for row in lake.read("orders$tags"))
    assert tag in said
    lake.outside(f"call outside.sys.rollback('shop.orders', '{tag}')")
    assert progress(lake.rescale(4)) == (3, 3, True)
    assert rows_of(lake) == rows


def test_a_tag_that_somebody_deletes_is_reported_and_the_table_can_be_accepted_without_it(lake: Lake) -> None:
    rows = partitioned(lake)
    lake.rescale(4, most=1).ok()
    lake.outside("call outside.sys.delete_tag('shop.orders', 'paimon-operator-rescale-2')")
    assert "was deleted" in lake.rescale(4).refused("RescaleFailed")

    lake.outside("alter table outside.shop.orders unset tblproperties ('paimon-operator.rescale')")
    assert progress(lake.rescale(4)) == (3, 3, True)
    assert rows_of(lake) == rows
