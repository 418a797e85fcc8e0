"""The tables that tests of clusters create and load, with their rows."""

from __future__ import annotations

from typing import Any

from tests.spark.clusters import Cluster, catalog_on
from tests.support import builders, lake_reader
from tests.support.manifests import Manifest
from tests.support.s3_server import S3Server

KEYED = {"columns": [{"name": "id", "type": "BIGINT"}, {"name": "v", "type": "STRING"}], "primaryKeys": ["id"]}
SUMMED = {
    "columns": [{"name": "id", "type": "BIGINT"}, {"name": "n", "type": "BIGINT", "aggregate": {"function": "sum"}}],
    "primaryKeys": ["id"],
}
INPUT = {
    "orders/1.csv": "id,v\n1,one\n2,two\n",
    "totals/1.csv": "id,n\n1,5\n2,7\n",
    "totals/2.csv": "id,n\n1,10\n",
}
NAMES = ("events", "orders", "totals")
ROWS = {
    "events": [],
    "orders": [{"id": 1, "v": "one"}, {"id": 2, "v": "two"}],
    "totals": [{"id": 1, "n": 15}, {"id": 2, "n": 7}],
}


def once(path: str) -> list[Manifest]:
    return [builders.write(schedule=None, path=path, format="csv", select="All")]


def tables() -> list[Manifest]:
    """A table without keys and writes, one that loads once, and one whose sums a second load would change."""
    fixed = {"type": "Fixed", "fixed": {"count": 2}}
    return [
        builders.table_manifest("events", schema=builders.EVENTS),
        builders.table_manifest("orders", schema=KEYED, writes=once("orders/")),
        builders.table_manifest(
            "totals", schema=SUMMED, bucket=fixed, mergeEngine={"type": "Aggregation"}, writes=once("totals/")
        ),
    ]


def load_tables(cluster: Cluster, server: S3Server, engine: str) -> dict[str, Any]:
    """Creates the tables in the cluster and waits until they are loaded. Returns their contents."""
    for key, text in INPUT.items():
        server.client().put_object(Bucket="landing", Key=key, Body=text.encode())
    cluster.create(catalog_on(server.endpoint, engine), server, *tables())
    for name in NAMES:
        cluster.wait_until_idle(name)
    return contents(server)


def contents(server: S3Server) -> dict[str, list[dict[str, Any]]]:
    """Rows and snapshots of the tables, read by pypaimon, by `orders` and `orders$snapshots`."""
    names = [each for table in NAMES for each in (table, f"{table}$snapshots")]
    env = server.reader_environment
    return dict(zip(names, lake_reader.read_many("s3://lake/warehouse", "shop", names, env=env), strict=True))
