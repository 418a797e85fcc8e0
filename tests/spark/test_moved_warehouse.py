"""A catalog whose endpoint is moved to a live server without its data: nothing is created there, and nothing is lost.

The steps of the class are one story of one cluster. No step touches a table's object.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from paimon_engines.engine import Engine
from tests.spark.cluster_tables import NAMES, contents, load_tables
from tests.spark.clusters import Cluster, objects_in, started
from tests.spark.driver_kubelet import Drivers
from tests.support.s3_server import S3Server, s3_server

pytestmark = [pytest.mark.newest_engine, pytest.mark.long]

MARKER = "lake/warehouse/"
"""An object without content: Paimon marks the warehouse as a directory when it opens a catalog."""


def copy(source: S3Server, target: S3Server) -> None:
    """Copies all objects."""
    of, to = source.client(), target.client()
    for name in objects_in(source):
        bucket, _, key = name.partition("/")
        to.put_object(Bucket=bucket, Key=key, Body=of.get_object(Bucket=bucket, Key=key)["Body"].read())


class TestMovedWarehouse:
    @pytest.fixture(scope="class")
    @classmethod
    def cluster(cls, drivers: Drivers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
        with started("cluster", tmp_path_factory.mktemp("clusters") / "moved", drivers) as cluster:
            yield cluster

    @pytest.fixture(scope="class")
    @classmethod
    def empty(cls, drivers: Drivers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
        """Another server with the same buckets and keys, and no object."""
        with s3_server(tmp_path_factory.mktemp("empty"), "lake", "landing", keys=drivers.keys) as server:
            yield server

    @pytest.fixture(scope="class")
    @classmethod
    def before(cls, cluster: Cluster, s3: S3Server, engine: Engine) -> dict[str, Any]:
        return load_tables(cluster, s3, engine.id)

    @pytest.mark.usefixtures("before")
    def test_no_table_is_created_on_the_empty_server(self, cluster: Cluster, empty: S3Server) -> None:
        cluster.move("lake", empty.endpoint)
        for name in NAMES:
            assert "last observed it at" in cluster.wait_until_stalled(name, "TableMissing")
        assert objects_in(empty).keys() == {MARKER}
        tried = [("Provision", "Failed"), ("Provision", "Succeeded"), ("Write", "Succeeded")]
        assert cluster.operations("orders") == tried, "only the verification has run"

    def test_the_endpoint_that_is_moved_back_recovers_all_tables(
        self, cluster: Cluster, before: dict[str, Any], s3: S3Server
    ) -> None:
        runs = {name: cluster.operations(name) for name in NAMES}
        cluster.move("lake", s3.endpoint)
        for name in NAMES:
            cluster.wait_until_idle(name)
        assert contents(s3) == before
        assert {name: cluster.operations(name) for name in NAMES} == runs, "what was proven there still holds"

    @pytest.fixture(scope="class")
    @classmethod
    def moved_with_data(cls, cluster: Cluster, s3: S3Server, empty: S3Server) -> dict[str, str]:
        """Moves the endpoint again, then the data, and waits for the retry, which comes after a minute or more.

        Returns the objects that were copied.
        """
        cluster.move("lake", empty.endpoint)
        for name in NAMES:
            cluster.wait_until_stalled(name, "TableMissing")
        copy(s3, empty)
        copied = objects_in(empty)
        for name in NAMES:
            cluster.wait_until_idle(name)
        return copied

    def test_the_data_that_follows_recovers_all_tables_and_nothing_is_loaded_again(
        self, cluster: Cluster, before: dict[str, Any], moved_with_data: dict[str, str], empty: S3Server
    ) -> None:
        assert contents(empty) == before
        assert objects_in(empty) == moved_with_data
        assert [run for run in cluster.operations("totals") if run[0] == "Write"] == [("Write", "Succeeded")]
