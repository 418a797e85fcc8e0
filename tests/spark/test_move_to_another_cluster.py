"""docs/howto-move-a-cluster.md by its commands: from a cluster with loaded tables to an empty one, on one lake.

Each cluster has an API server and an operator, and the jobs are real. The old operator stays, with nothing left to it.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from paimon_engines.engine import Engine
from tests.apiserver.namespace_client import CATALOGS, RUNS, TABLES
from tests.cluster.packages import install
from tests.cluster.programs import KUBECTL
from tests.spark.cluster_tables import NAMES, ROWS, contents, load_tables, tables
from tests.spark.clusters import NAMESPACE, Cluster, catalog_on, objects_in, started
from tests.spark.driver_kubelet import Drivers
from tests.support.docs_commands import steps_of
from tests.support.s3_server import S3Server

pytestmark = [pytest.mark.newest_engine, pytest.mark.long]

PAGE = "docs/howto-move-a-cluster.md"
HEADINGS = (
    "## 1. Export the objects",
    "## 2. Release the tables on the old cluster",
    "## 3. Adopt them on the new cluster",
    "## 4. See that it worked",
)


def merged_kubeconfig(file: Path, clusters: dict[str, Cluster]) -> Path:
    """A kubeconfig with one context for each cluster."""
    merged: dict[str, Any] = {"apiVersion": "v1", "kind": "Config"} | {k: [] for k in ("clusters", "users", "contexts")}
    for name, cluster in clusters.items():
        own = yaml.safe_load(cluster.server.kubeconfig.read_text())
        for kind in ("clusters", "users"):
            merged[kind].append(own[kind][0] | {"name": name})
        merged["contexts"].append({"name": name, "context": {"cluster": name, "user": name}})
    file.write_text(yaml.safe_dump(merged))
    return file


class TestMove:
    @pytest.fixture(scope="class")
    @classmethod
    def old(cls, drivers: Drivers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
        with started("old-cluster", tmp_path_factory.mktemp("move") / "old", drivers) as cluster:
            yield cluster

    @pytest.fixture(scope="class")
    @classmethod
    def new(cls, drivers: Drivers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
        with started("new-cluster", tmp_path_factory.mktemp("move") / "new", drivers) as cluster:
            yield cluster

    @pytest.fixture(scope="class")
    @classmethod
    def before(cls, old: Cluster, s3: S3Server, engine: Engine) -> dict[str, Any]:
        """Rows and snapshots of the old cluster's tables. One is to be dropped with its object."""
        found = load_tables(old, s3, engine.id)
        old.ns.patch(TABLES, "orders", {"spec": {"deletionPolicy": "Delete"}})
        return found

    @pytest.fixture(scope="class")
    @classmethod
    def printed(
        cls,
        old: Cluster,
        new: Cluster,
        before: dict[str, Any],
        s3: S3Server,
        tmp_path_factory: pytest.TempPathFactory,
    ) -> tuple[str, dict[str, str]]:
        """What the commands have printed, and the objects of the lake before them."""
        install({"jq": "jq"})
        assert before.keys() >= ROWS.keys(), "loaded"
        directory, stored = tmp_path_factory.mktemp("moved"), objects_in(s3)
        kubeconfig = merged_kubeconfig(directory / "kubeconfig", {"old": old, "new": new})
        here = {"-n shop": f"-n {NAMESPACE}"}
        commands = "".join(steps_of(PAGE, here, heading=heading).commands for heading in HEADINGS)
        programs = f"{KUBECTL.path.parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=directory,
            env={**os.environ, "PATH": programs, "KUBECONFIG": str(kubeconfig)},
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout, stored

    def test_the_new_cluster_has_adopted_each_table_in_one_run(
        self, new: Cluster, printed: tuple[str, dict[str, str]], before: dict[str, Any], s3: S3Server
    ) -> None:
        text, stored = printed
        for name in NAMES:
            new.wait_until_idle(name)
            assert new.operations(name) == [("Provision", "Succeeded")]
        assert sorted(line.split() for line in text.splitlines() if " Provision " in line) == [
            [name, "Provision", "false"] for name in NAMES
        ]
        assert contents(s3) == before, "neither a row nor a snapshot has changed"
        added = sorted(objects_in(s3).keys() - stored.keys())
        assert added == [f"lake/warehouse/shop.db/{name}/schema/schema-1" for name in NAMES]

    @pytest.mark.usefixtures("printed")
    def test_the_old_cluster_has_nothing_of_them_and_dropped_none(self, old: Cluster) -> None:
        assert old.ns.all(TABLES) == []
        assert old.ns.all(CATALOGS) == []
        assert "Drop" not in {run["spec"]["type"] for run in old.ns.all(RUNS)}

    @pytest.mark.usefixtures("printed")
    def test_an_old_manifest_on_the_old_cluster_is_a_conflict(
        self, old: Cluster, s3: S3Server, engine: Engine, before: dict[str, Any]
    ) -> None:
        stored = objects_in(s3)
        old.ns.create(catalog_on(s3.endpoint, engine.id))
        old.ns.create(tables()[1])
        assert "is owned by a PaimonTable of another cluster" in old.wait_until_stalled("orders", "Conflict")
        assert objects_in(s3) == stored
        assert contents(s3) == before
