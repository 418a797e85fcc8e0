"""A Hive metastore with a warehouse on HDFS, with and without Kerberos, and on a volume.

test_hive_metastore.py has the warehouse on S3.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.cluster.hive.metastore import Metastore
from tests.spark.hdfs_lake import HdfsLake
from tests.spark.lake import Lake

METASTORE = "Hive"
COLUMNS = {"id": "BIGINT", "v": "STRING"}
numbers = itertools.count(1)


@dataclass
class OnHdfs(HdfsLake):
    """An HdfsLake whose table the metastore lists."""

    uri: str = field(kw_only=True)

    def job(self, operation: str, *, run: str | None = None, **member: Any) -> dict[str, Any]:
        return with_metastore(self.uri, super().job(operation, run=run, **member))


@dataclass
class OnVolume(Lake):
    """A Lake whose table the metastore lists."""

    uri: str = field(kw_only=True)

    def job(self, operation: str, *, run: str | None = None, **member: Any) -> dict[str, Any]:
        return with_metastore(self.uri, super().job(operation, run=run, **member))


def with_metastore(uri: str, job: dict[str, Any]) -> dict[str, Any]:
    """Returns the job with the metastore in its catalog."""
    options = {**job["catalog"]["options"], "uri": uri}
    return job | {"catalog": job["catalog"] | {"metastore": "hive", "options": options}}


def live(lake: Lake) -> None:
    """Creates the table, writes, compacts, expires and drops it. Reads it once, because a read of HDFS starts a JVM."""
    assert lake.provision(COLUMNS, keys=["id"], options={"bucket": "1"}).ok()["created"] is True
    for number, rows in enumerate(["1,first\n2,first\n", "2,second\n"]):
        lake.land(f"orders/{number}.csv", f"id,v\n{rows}")
        assert lake.write().ok()["write"]["files"] == 1
    assert lake.compact().ok()["after"]["sortedRunsMax"] == 1
    assert lake.expire(numRetainedMin=1, numRetainedMax=1).ok()["expired"] == 2
    assert lake.rows() == [{"id": 1, "v": "first"}, {"id": 2, "v": "second"}]
    assert lake.drop().ok()["dropped"] is True


@pytest.mark.long
@pytest.mark.engines_in_turn("hdfs_kind")
def test_the_life_cycle_of_a_table_on_hdfs(hdfs_lake: HdfsLake, hive: Metastore) -> None:
    """The metastore's server has no configuration of that HDFS and cannot reach it."""
    lake = OnHdfs(**vars(hdfs_lake) | {"database": f"hdfs_{next(numbers)}"}, uri=hive.uri)
    live(lake)
    assert not lake.exists(f"{lake.database}.db/orders")


def test_the_life_cycle_of_a_table_on_a_volume(lake: Lake, hive: Metastore) -> None:
    listed = OnVolume(**vars(lake) | {"database": f"volume_{next(numbers)}"}, uri=hive.uri)
    live(listed)
    assert not listed.table_directory.exists()
