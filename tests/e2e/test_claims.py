"""The life cycle of a table in a warehouse on a PersistentVolumeClaim, without S3."""

from __future__ import annotations

import pytest

from tests.e2e.disks import claim_of, disk
from tests.e2e.lab import Lab, once
from tests.support import lake_reader


@pytest.mark.long
def test_a_table_on_a_volume_claim_is_created_loaded_and_dropped(lab: Lab) -> None:
    catalog = lab.catalog("disk", warehouse="file:///data/warehouse", storage={"claim": {"name": "lake-disk"}})
    catalog["spec"]["locations"] = [{"name": "landing", "uri": "file:///data/landing/"}]
    with disk(lab.kubectl, "lake-disk") as directory:
        (directory / "landing").mkdir()
        (directory / "landing" / "first.json").write_text('{"id": 1}\n{"id": 2}\n')
        table = lab.table("t", {"id": "BIGINT"}, keys=["id"], writes=[once("first", "first.json")])
        table["spec"] |= {"catalogRef": {"name": "disk"}, "deletionPolicy": "Delete"}
        lab.kubectl.apply(claim_of(lab.namespace, "lake-disk"), catalog, table)

        lab.settled("t")
        warehouse = directory / "warehouse"
        assert lake_reader.read_rows(warehouse.as_uri(), lab.namespace, "t") == [{"id": 1}, {"id": 2}]

        lab.kubectl.delete("paimontable", "t", wait=True)
        assert not (warehouse / f"{lab.namespace}.db" / "t").exists()
