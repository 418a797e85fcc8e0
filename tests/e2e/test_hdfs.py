"""Tables on the node's HDFS, with and without Kerberos: a whole life, an outage, and the examples."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster import release
from tests.cluster.hdfs import on_node, realm
from tests.cluster.layout import Layout
from tests.e2e.hdfs_lab import HdfsLab, storage_objects
from tests.e2e.lab import committed, once
from tests.e2e.outages import without_datanode
from tests.support.executor_stage import chart_objects
from tests.support.kubectl import Kubectl, Object

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
pytestmark = pytest.mark.xdist_group("hdfs")
"""In turn: one of them stops a server that the others work with."""

CLUSTER = {
    "mode": "Cluster",
    "driver": {"cores": 1, "memory": "1536Mi"},
    "executor": {"instances": 2, "cores": 1, "memory": "1Gi"},
}
COLUMNS = {"id": "BIGINT", "v": "STRING"}


YEARLY = "0 0 1 1 *"


def loaded(lab: HdfsLab, batches: int) -> None:
    """The table `orders` after that many loads of the keys 0 to 99, each over the one before."""
    table = lab.table(
        "orders",
        {"id": "BIGINT", "batch": "INT"},
        keys=["id"],
        bucket={"type": "Fixed", "fixed": {"count": 2}},
        compaction={"mode": "Dedicated", "full": {"schedule": YEARLY}},
        retention={"snapshots": {"numRetainedMin": 1, "numRetainedMax": 1, "schedule": YEARLY}},
        writes=[once(f"load-{n}", f"in/{n}.json") for n in range(batches)],
        deletionPolicy="Delete",
    )
    lab.land(f"in/{batches - 1}.json", [{"id": n, "batch": batches - 1} for n in range(100)])
    lab.kubectl.apply(table)
    what = f"loaded {batches} times"
    lab.kubectl.until("paimontable", "orders", lambda o: len(committed(o)) == batches, what=what)


def asked(lab: HdfsLab, name: str, **spec: Any) -> Object:
    """The status of a run that a user asks for, once it has succeeded."""
    lab.kubectl.apply(lab.run("orders", name, **spec))
    lab.kubectl.until_condition(name, "Succeeded", "True", kind="paimonrun")
    status: Object = (lab.kubectl.get("paimonrun", name) or {})["status"]
    return status


def test_a_table_lives_on_hdfs_until_it_is_dropped(hdfs_lab: HdfsLab) -> None:
    """Three upserts, the last of them and the compaction by two executors; expiry; drop."""
    lab = hdfs_lab
    table = f"{lab.warehouse}/{lab.namespace}.db/orders"
    lab.kubectl.apply(*(each for each in chart_objects(lab.namespace) if "Policy" not in each["kind"]))
    loaded(lab, 1)
    loaded(lab, 2)
    lab.kubectl.apply(lab.catalog(spark=CLUSTER))
    loaded(lab, 3)

    squeezed = asked(lab, "squeeze", type="Compact", compact={"strategy": "Full"})
    assert squeezed["spark"]["mode"] == "Cluster"
    assert squeezed["after"]["sortedRunsMax"] == 1
    assert len(lab.snapshots("orders")) == 4
    asked(lab, "expire", type="ExpireSnapshots")
    assert len(lab.snapshots("orders")) == 1
    assert [(row["id"], row["batch"]) for row in lab.rows("orders")] == [(n, 2) for n in range(100)]
    owners = lab.hdfs.shell("-ls", "-R", table).splitlines()
    assert {line.split()[2] for line in owners} == {realm.USER}, "whoever wrote it, driver or executor"

    lab.kubectl.delete("paimontable", "orders")
    lab.kubectl.until("paimontable", "orders", lambda o: o is None, what="gone")

    left = lab.hdfs.shell("-ls", "-R", "-C", lab.warehouse).split()
    assert not [path for path in left if "/orders" in path], "neither data nor ledger"


@pytest.mark.parametrize("hdfs_lab", [on_node.SIMPLE], indirect=True)
def test_what_fails_while_no_datanode_runs_is_done_once_it_is_back(hdfs_lab: HdfsLab) -> None:
    lab = hdfs_lab
    lab.land("in/1.json", [{"id": 1, "v": "waited"}])
    with without_datanode(lab.hdfs):
        lab.kubectl.apply(lab.table("t", COLUMNS, keys=["id"], writes=[once("import", "in/1.json")]))
        failed = lab.kubectl.until(
            "paimontable",
            "t",
            lambda o: "StorageUnreachable" in str((o or {}).get("status")),
            what="told that the storage cannot be reached",
        )
    assert "No DataNode serves the files" in str(failed)

    lab.kubectl.until("paimontable", "t", committed, what="loaded")
    assert lab.rows("t") == [{"id": 1, "v": "waited"}]


@pytest.mark.parametrize("kind", [on_node.SIMPLE, on_node.KERBEROS])
def test_the_example_becomes_a_table(kind: str, cluster_env: Mapping[str, str]) -> None:
    """With this node's servers in the place of the example's."""
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
