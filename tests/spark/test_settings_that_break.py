"""Settings that Paimon accepts at creation, and with which it fails at the first write: reconcile refuses them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.spark.declared_table import problems
from tests.spark.lake import Ended, Lake, RefusedBySparkError
from tests.support import builders

COLUMNS = {"id": "BIGINT", "v": "INT"}
BUCKET = {"bucket": "1"}


def written(lake: Lake, options: dict[str, str], *, keys: tuple[str, ...] = ("id",), **write: Any) -> Ended:
    """Creates a table, which Paimon accepts, and writes one row."""
    lake.provision(COLUMNS, keys=list(keys), options=options).ok()
    lake.land("orders/1.csv", "id,v\n1,1\n")
    return lake.write(mode="Upsert" if keys else "Append", **write)


def refused(lake: Lake, **spec: Any) -> list[str]:
    return [error.field for error in problems(lake, spec)]


def test_delta_commits_and_writers_that_do_not_compact(lake: Lake) -> None:
    """1.4.2 fails; 0.9 counts no commits, so that the setting has no effect, and is refused in every mode."""
    options = {**BUCKET, "changelog-producer": "full-compaction", "write-only": "true"}
    producer = {"type": "FullCompaction", "fullCompaction": {"deltaCommits": 2}}

    ended = written(lake, options | {"full-compaction.delta-commits": "2"})

    if ended.code:
        assert "NoopCompactManager does not support user triggered compaction" in ended.error["message"]
    field = "spec.changelogProducer.fullCompaction.deltaCommits"
    assert (ended.code != 0) == (lake.engine.id != "paimon-0.9")
    assert set(refused(lake, changelogProducer=producer, compaction={"mode": "Dedicated"})) == {field}
    inline = [] if builders.engines()[lake.engine.id].counts_delta_commits else [field]
    assert refused(lake, changelogProducer=producer) == inline


SMALL = [
    {"write-buffer-size": "191 kb"},
    {"write-buffer-size": "2 kb", "page-size": "1 kb"},
    {"write-buffer-size": "2 mb", "page-size": "1 mb"},
]
ENOUGH = [
    {"write-buffer-size": "192 kb"},
    {"write-buffer-size": "3 kb", "page-size": "1 kb"},
    {"write-buffer-size": "3 mb", "page-size": "1 mb"},
]


@pytest.mark.parametrize("options", SMALL, ids=str)
def test_a_write_buffer_smaller_than_its_pages_fails_the_write(lake: Lake, options: dict[str, str]) -> None:
    assert "minimum of 3 page memory" in written(lake, BUCKET | options).error["message"]
    assert refused(lake, options=options) == ["spec.options[write-buffer-size]"]
    write = builders.write() | {"options": options}
    assert refused(lake, writes=[write]) == ["spec.writes[0].options[write-buffer-size]"]


@pytest.mark.parametrize("options", ENOUGH, ids=str)
def test_a_write_buffer_of_three_pages_is_enough(lake: Lake, options: dict[str, str]) -> None:
    written(lake, BUCKET | options).ok()
    assert refused(lake, options=options) == []


def test_an_append_table_needs_one_page_if_it_has_a_buffer(lake: Lake) -> None:
    buffer = {"write-buffer-for-append": "true"}
    assert written(lake, buffer | {"write-buffer-size": "1 kb"}, keys=()).code != 0
    written(lake, buffer | {"write-buffer-size": "64 kb"}, keys=()).ok()
    append = builders.EVENTS
    assert refused(lake, schema=append, options=buffer | {"write-buffer-size": "1 kb"}) == [
        "spec.options[write-buffer-size]"
    ]
    assert refused(lake, schema=append, options=buffer | {"write-buffer-size": "64 kb"}) == []
    assert refused(lake, schema=append, options={"write-buffer-size": "1 kb"}) == []


def test_a_batch_marks_a_partition_as_done_after_each_load_or_never(lake: Lake) -> None:
    """So the operator refuses the option: more rows for the same day may follow."""
    lake.provision({"id": "BIGINT", "dt": "STRING"}, partitions=["dt"], options={"bucket": "-1"}).ok()
    lake.outside("ALTER TABLE outside.shop.orders SET TBLPROPERTIES ('partition.end-input-to-done' = 'true')")
    lake.land("orders/1.csv", "id,dt\n1,2026-11-25\n")

    lake.write(mode="Append").ok()

    marks = list((lake.table_directory / "dt=2026-11-25").glob("_SUCCESS"))
    assert len(marks) == (1 if "partition.end-input-to-done" in builders.engines()[lake.engine.id].options else 0)


def test_a_table_is_unreadable_in_another_format_of_manifests_and_readable_in_the_one_before(lake: Lake) -> None:
    """So the option is frozen: Paimon reads all manifests in the format that the table names now."""
    written(lake, BUCKET).ok()
    lake.outside("ALTER TABLE outside.shop.orders SET TBLPROPERTIES ('manifest.format' = 'orc')")
    with pytest.raises(RefusedBySparkError):
        lake.select("SELECT * FROM outside.shop.orders")
    lake.outside("ALTER TABLE outside.shop.orders UNSET TBLPROPERTIES ('manifest.format')")
    assert [row["v"] for row in lake.rows()] == [1]

    edited = lake.provision(COLUMNS, keys=["id"], options=BUCKET | {"manifest.format": "orc"})
    assert "option manifest.format: table has avro" in edited.refused("TableDiffers")
