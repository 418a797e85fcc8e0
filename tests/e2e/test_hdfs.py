"""Tables on the node's HDFS, with and without Kerberos: life cycle, outage, and the examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from tests.cluster import release
from tests.cluster.hdfs import on_node, realm
from tests.cluster.layout import Layout
from tests.e2e.hdfs_lab import HdfsLab, storage_objects
from tests.e2e.lab import Lab, committed, once
from tests.e2e.labs import hdfs_lab_in, name_of
from tests.e2e.lifecycle import Lifecycle, drop, live
from tests.e2e.outages import without_datanode
from tests.support.kubectl import Kubectl

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
pytestmark = pytest.mark.xdist_group("hdfs")
"""In turn: one of them stops a server that the others work with."""

COLUMNS = {"id": "BIGINT", "v": "STRING"}


class TestLifeOnKerberos(Lifecycle):
    @pytest.fixture(scope="class")
    @classmethod
    def lived(cls, request: pytest.FixtureRequest, cluster_env: Mapping[str, str], engine: str) -> Iterator[HdfsLab]:
        with hdfs_lab_in(cluster_env, name_of(request, engine), engine, on_node.KERBEROS) as made:
            yield made

    def check_loaded(self, lived: Lab) -> None:
        assert isinstance(lived, HdfsLab)
        assert owners(lived) == {realm.USER}


def owners(lab: HdfsLab) -> set[str]:
    """Returns the users who own files of the table `orders`."""
    listed = lab.hdfs.shell("-ls", "-R", f"{lab.warehouse}/{lab.namespace}.db/orders").splitlines()
    return {line.split()[2] for line in listed}


@pytest.mark.long
@pytest.mark.each_engine
def test_the_life_cycle_of_a_table_on_hdfs(hdfs_lab: HdfsLab) -> None:
    live(hdfs_lab)

    assert owners(hdfs_lab) == {realm.USER}
    drop(hdfs_lab)


@pytest.mark.long
@pytest.mark.parametrize("hdfs_lab", [on_node.SIMPLE], indirect=True)
def test_a_write_during_an_outage_of_the_datanode_succeeds_afterwards(hdfs_lab: HdfsLab) -> None:
    lab = hdfs_lab
    lab.land("in/1.json", [{"id": 1, "v": "waited"}])
    with without_datanode(lab.hdfs):
        lab.kubectl.apply(lab.table("t", COLUMNS, keys=["id"], writes=[once("import", "in/1.json")]))
        failed = lab.kubectl.until(
            "paimontable",
            "t",
            lambda o: "StorageUnreachable" in str((o or {}).get("status")),
            what="with the reason that the storage is unreachable",
        )
    assert "No DataNode serves the files" in str(failed)

    lab.kubectl.until("paimontable", "t", committed, what="loaded")
    assert lab.rows("t") == [{"id": 1, "v": "waited"}]


@pytest.mark.long
@pytest.mark.parametrize("kind", [on_node.SIMPLE, on_node.KERBEROS])
def test_the_example_becomes_a_table(kind: str, cluster_env: Mapping[str, str]) -> None:
    """The servers of the node replace those of the example."""
    hdfs = on_node.start(Layout(), kind)
    objects = list(yaml.safe_load_all((EXAMPLES / f"{kind}.yaml").read_text()))
    ours = {(each["kind"], each["metadata"]["name"]): each for each in storage_objects(hdfs, release.SHOP)}
    objects = [ours.pop((each["kind"], each["metadata"]["name"]), each) for each in objects]
    catalog, table = objects[-2:]
    catalog["spec"]["warehouse"] = f"{hdfs.uri}/lake/example"
    catalog["spec"]["locations"][0]["uri"] = f"{hdfs.uri}/landing/"
    if hdfs.realm is not None:
        catalog["spec"]["storage"]["hdfs"]["kerberos"]["principal"] = f"{realm.USER}@{realm.NAME}"
    shop = Kubectl(namespace=release.SHOP, env=cluster_env)
    shop.apply(*ours.values(), *objects)
    try:
        shop.until_condition(table["metadata"]["name"], "Ready", "True")
    finally:
        shop.delete("paimontable", table["metadata"]["name"])
