"""Two clusters with the same manifests on one lake: each has an API server and an operator, and the jobs are real.

The steps of the class are one story. At any time one cluster manages each table, and no row is lost or loaded twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from paimon_engines.engine import Engine
from tests.apiserver.namespace_client import RUNS, TABLES
from tests.spark.cluster_tables import KEYED, NAMES, ROWS, contents, load_tables, tables
from tests.spark.clusters import Cluster, catalog_on, objects_in, started
from tests.spark.driver_kubelet import Drivers
from tests.support import builders
from tests.support.manifests import Manifest
from tests.support.s3_server import S3Server

pytestmark = pytest.mark.newest_engine

FIRST, SECOND = "first-cluster", "second-cluster"


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
        return load_tables(first, s3, engine.id)

    def test_the_first_cluster_creates_and_loads_the_tables(self, first: Cluster, before: dict[str, Any]) -> None:
        assert {name: before[name] for name in NAMES} == ROWS
        assert first.operations("orders") == [("Provision", "Succeeded"), ("Write", "Succeeded")]

    @pytest.mark.usefixtures("before")
    def test_the_second_cluster_reports_a_conflict_and_writes_nothing(
        self, second: Cluster, s3: S3Server, engine: Engine
    ) -> None:
        stored = objects_in(s3)
        second.create(catalog_on(s3.endpoint, engine.id), s3, *tables())
        for name in NAMES:
            message = second.wait_until_stalled(name, "Conflict")
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
        assert contents(s3) == before, "neither a row nor a snapshot has changed"
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

        message = second.wait_until_stalled("again", "Conflict")
        assert "is owned by PaimonTable orders, which this cluster still has" in message
        assert objects_in(s3) == stored
        second.ns.delete(TABLES, "again")

    @pytest.fixture(scope="class")
    @classmethod
    def when_it_comes_back(cls, first: Cluster, s3: S3Server) -> dict[str, str]:
        """Starts the first cluster again. Its operator waits until the Lease of the killed one has expired.

        Returns the objects of the lake before the start.
        """
        stored = objects_in(s3)
        first.start()
        return stored

    def test_the_first_cluster_finds_the_conflict_when_it_comes_back(
        self,
        first: Cluster,
        second: Cluster,
        before: dict[str, Any],
        when_it_comes_back: dict[str, str],
        s3: S3Server,
    ) -> None:
        first.ns.create(builders.run_manifest("compact-orders", table="orders", backoffLimit=0))
        for name in ("events", "totals"):
            first.ns.patch(TABLES, name, {"spec": {"options": {"read.batch-size": "2048"}}})

        failed = first.ns.wait_for_condition(RUNS, "compact-orders", "Succeeded", "False")
        assert failed["reason"] == "Conflict"
        for name in NAMES:
            assert SECOND not in first.wait_until_stalled(name, "Conflict")
        assert objects_in(s3) == when_it_comes_back
        assert contents(s3) == before
        for name in NAMES:
            second.wait_until_idle(name)
