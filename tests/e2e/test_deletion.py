"""Deletion of a table: Retain never waits for storage. Delete waits and reports why, and can be overridden."""

from __future__ import annotations

import pytest

from tests.e2e.lab import Lab
from tests.e2e.outages import DedicatedS3
from tests.support.kubectl import Object, condition

COLUMNS = {"id": "BIGINT"}


def table_files(lab: Lab, table: str) -> list[str]:
    return lab.keys(f"{lab.namespace}.db/{table}/")


@pytest.fixture
def three_tables(lab: Lab, dedicated_s3: DedicatedS3) -> Lab:
    lab.kubectl.apply(
        lab.table("keep", COLUMNS, keys=["id"]),
        lab.table("drop", COLUMNS, keys=["id"], deletionPolicy="Delete"),
        lab.table("give-up", COLUMNS, keys=["id"], deletionPolicy="Delete"),
    )
    for name in ("keep", "drop", "give-up"):
        lab.ready(name)
    return lab


def test_retain_releases_and_delete_waits_while_the_storage_is_down(
    three_tables: Lab, dedicated_s3: DedicatedS3
) -> None:
    lab = three_tables
    with dedicated_s3.outage():
        for name in ("keep", "drop", "give-up"):
            lab.kubectl.delete("paimontable", name)

        lab.kubectl.until("paimontable", "keep", lambda o: o is None, what="released")

        def says_why(obj: Object | None) -> bool:
            ready = condition(obj, "Ready")
            return ready.get("status") == "False" and "drop" in ready.get("message", "").lower()

        lab.kubectl.until("paimontable", "drop", says_why, what="waiting with a reason")

        lab.kubectl.run("annotate", "paimontable", "give-up", "paimon-operator.dev/skip-drop=true")
        lab.kubectl.until("paimontable", "give-up", lambda o: o is None, what="released by the override")

    lab.kubectl.until("paimontable", "drop", lambda o: o is None, what="dropped and released", seconds=600)
    assert table_files(lab, "drop") == []
    assert table_files(lab, "keep")
    assert table_files(lab, "give_up")
