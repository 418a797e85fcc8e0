"""Two clusters with the same manifests on one lake: each has an API server and an operator, and the jobs are real.

The steps of the class are one story. At any time one cluster manages each table, and no row is lost or loaded twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from paimon_engines.engine import Engine
from tests.apiserver.namespace_client import RUNS, TABLES
from tests.spark.clusters import Cluster, catalog_on, contents, land, objects_in, started
from tests.spark.driver_kubelet import Drivers
from tests.support import builders
from tests.support.manifests import Manifest
from tests.support.s3_server import S3Server

pytestmark = pytest.mark.newest_engine

FIRST, SECOND = "first-cluster", "second-cluster"
KEYED = {"columns": [{"name": "id", "type": "BIGINT"}, {"name": "v", "type": "STRING"}], "primaryKeys": ["id"]}
SUMMED = {
    "columns": [{"name": "id", "type": "BIGINT"}, {"name": "n", "type": "BIGINT", "aggregate": {"function": "sum"}}],
    "primaryKeys": ["id"],
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


def rows_in(found: dict[str, Any]) -> dict[str, Any]:
    return {name: found[name] for name in NAMES}


def stalled(cluster: Cluster, name: str, reason: str) -> str:
    """Waits until the table is Stalled for this reason and returns the message."""
    message: str = cluster.ns.wait_for_condition(TABLES, name, "Stalled", "True", reason)["message"]
    return message


class TestTwoClusters:
    @pytest.fixture(scope="class")
    @classmethod
    def first(cls, drivers: Drivers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
        with started(FIRST, tmp_path_factory.mktemp("clusters") / "first", drivers) as cluster:
            yield cluster

    @pytest.fixture(scope="class")
    @classmethod
    def second(cls, drivers: Drivers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
        with started(SECOND, tmp_path_factory.mktemp("clusters") / "second", drivers) as cluster:
            yield cluster

    @pytest.fixture(scope="class")
    @classmethod
    def before(cls, first: Cluster, s3: S3Server, engine: Engine) -> dict[str, Any]:
        """Rows and snapshots that the first cluster has made."""
        land(s3, "orders/1.csv", "id,v\n1,one\n2,two\n")
        land(s3, "totals/1.csv", "id,n\n1,5\n2,7\n")
        land(s3, "totals/2.csv", "id,n\n1,10\n")
        first.create(catalog_on(s3.endpoint, engine.id), s3, *tables())
        for name in NAMES:
            first.wait_until_idle(name)
        return contents(s3, NAMES)

    def test_the_first_cluster_creates_and_loads_the_tables(self, first: Cluster, before: dict[str, Any]) -> None:
        assert rows_in(before) == ROWS
        assert first.operations("orders") == [("Provision", "Succeeded"), ("Write", "Succeeded")]

    @pytest.mark.usefixtures("before")
    def test_the_second_cluster_reports_a_conflict_and_writes_nothing(
        self, second: Cluster, s3: S3Server, engine: Engine
    ) -> None:
        stored = objects_in(s3)
        second.create(catalog_on(s3.endpoint, engine.id), s3, *tables())
        for name in NAMES:
            message = stalled(second, name, "Conflict")
            assert "is owned by a PaimonTable of another cluster" in message
            assert FIRST not in message
            assert second.operations(name) == [("Provision", "Failed")]
        assert objects_in(s3) == stored

    def test_without_the_first_cluster_adopt_takes_each_table_over_in_one_run(
        self, first: Cluster, second: Cluster, before: dict[str, Any], s3: S3Server
    ) -> None:
        first.stop()
        stored = objects_in(s3)
        for name in NAMES:
            second.ns.patch(TABLES, name, {"spec": {"adoptionPolicy": "Adopt"}})
        for name in NAMES:
            second.wait_until_idle(name)
        second.restart_operator()  # the next reconcile of each table starts nothing

        for name in NAMES:
            assert second.operations(name) == [("Provision", "Failed"), ("Provision", "Succeeded")]
        assert contents(s3, NAMES) == before, "neither a row nor a snapshot has changed"
        added = sorted(objects_in(s3).keys() - stored.keys())
        assert added == [f"lake/warehouse/shop.db/{name}/schema/schema-1" for name in NAMES]

    @pytest.mark.usefixtures("before")
    def test_adopt_by_another_address_of_the_server_takes_nothing_from_an_owner_here(
        self, second: Cluster, s3: S3Server, engine: Engine
    ) -> None:
        """No text shows that the two addresses are one server. The mark in the table does."""
        stored = objects_in(s3)
        alias: Manifest = {"catalogRef": {"name": "alias"}, "table": "orders", "adoptionPolicy": "Adopt"}
        second.ns.create(catalog_on(s3.endpoint.replace("127.0.0.1", "localhost"), engine.id, name="alias"))
        second.ns.create(builders.table_manifest("again", schema=KEYED, **alias))

        message = stalled(second, "again", "Conflict")
        assert "is owned by PaimonTable orders, which this cluster still has" in message
        assert objects_in(s3) == stored
        second.ns.delete(TABLES, "again")

    def test_the_first_cluster_finds_the_conflict_when_it_comes_back(
        self, first: Cluster, second: Cluster, before: dict[str, Any], s3: S3Server
    ) -> None:
        stored = objects_in(s3)
        first.start()
        first.ns.create(builders.run_manifest("compact-orders", table="orders", backoffLimit=0))
        first.ns.patch(TABLES, "events", {"spec": {"options": {"read.batch-size": "2048"}}})
        first.ns.patch(TABLES, "totals", {"spec": {"options": {"read.batch-size": "2048"}}})

        failed = first.ns.wait_for_condition(RUNS, "compact-orders", "Succeeded", "False")
        assert failed["reason"] == "Conflict"
        for name in NAMES:
            assert SECOND not in stalled(first, name, "Conflict")
        assert objects_in(s3) == stored
        assert contents(s3, NAMES) == before
        assert [second.wait_until_idle(name)["metadata"]["name"] for name in NAMES] == list(NAMES)
