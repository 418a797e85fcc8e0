"""Catalogs with a Hive metastore: a table's whole life, the lock of a dead driver, an outage, and the example."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.e2e.hive_lab import HiveLab
from tests.e2e.lifecycle import drop, live
from tests.support.kubectl import condition

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
pytestmark = pytest.mark.xdist_group("postgres")
"""In turn: the metastore keeps what it knows in the node's one PostgreSQL."""

DRIVERS = "app.kubernetes.io/managed-by=paimon-operator,paimon-operator.dev/role!=executor"


def test_a_table_lives_in_the_metastore_until_it_is_dropped(hive_lab: HiveLab) -> None:
    lab = hive_lab
    with lab.hive.noting_locks() as taken:
        live(lab)
        (host,) = {pod["spec"]["hostname"] for pod in lab.pods(DRIVERS)}
        of_commits = f"{lab.database}|orders|e|{host}"
        assert set(taken()) == {of_commits}, "all drivers of the table hold their locks by one name"
    assert lab.listed() == "orders"

    drop(lab)
    assert lab.listed() == ""


def test_a_metastore_that_is_away_is_told_of_and_met_again(hive_lab: HiveLab) -> None:
    lab = hive_lab
    lab.hive.stop()
    try:
        lab.kubectl.apply(lab.table("t", {"id": "BIGINT"}))
        failed = lab.kubectl.until(
            "paimontable",
            "t",
            lambda o: "MetastoreUnreachable" in str((o or {}).get("status")),
            what="told that the metastore does not answer",
        )
    finally:
        lab.hive.start()
    assert "spec.metastore.hive.uri" in str(failed)
    lab.ready("t")
    assert lab.listed() == "t"


def test_the_example_becomes_a_table_to_which_others_may_commit(hive_lab: HiveLab) -> None:
    lab = hive_lab
    catalog, table = lab.placed(yaml.safe_load_all((EXAMPLES / "hive.yaml").read_text()))
    catalog["spec"]["metastore"]["hive"]["uri"] = lab.hive.uri
    lab.kubectl.apply(catalog, table)

    name = table["metadata"]["name"]
    lab.ready(name)
    for kind, of in (("paimontable", name), ("paimoncatalog", catalog["metadata"]["name"])):
        found = condition(lab.kubectl.get(kind, of), "CommitSafe")
        assert (found["status"], found["reason"]) == ("True", "CommitLock"), kind
