"""A warehouse that was emptied without the operator's knowledge: nothing is created, and the data can be put back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.lab import Lab, once

COLUMNS = {"id": "BIGINT", "v": "STRING"}


def edited(lab: Lab, size: int) -> dict[str, Any]:
    """The manifest after an edit, which makes the operator look at the table."""
    writes = [once("import", "in/1.json")]
    return lab.table("orders", COLUMNS, keys=["id"], writes=writes, options={"read.batch-size": str(size)})


@pytest.mark.long
class TestEmptiedWarehouse:
    @pytest.fixture(scope="class")
    @classmethod
    def away(cls, class_lab: Lab) -> dict[str, bytes]:
        """Loads a table and takes all its files away. Returns them."""
        lab = class_lab
        lab.land("in/1.json", [{"id": 1, "v": "kept"}])
        lab.kubectl.apply(lab.table("orders", COLUMNS, keys=["id"], writes=[once("import", "in/1.json")]))
        lab.settled("orders")
        stored = lab.keys()
        files = {key: lab.s3.get_object(Bucket="lake", Key=key)["Body"].read() for key in stored}
        for key in files:
            lab.s3.delete_object(Bucket="lake", Key=key)
        return files

    def test_the_table_is_reported_and_not_recreated(self, away: dict[str, bytes], class_lab: Lab) -> None:
        class_lab.kubectl.apply(edited(class_lab, 2048))
        stalled = class_lab.kubectl.until_condition("orders", "Stalled", "True")
        assert stalled["reason"] == "TableMissing"
        assert "last observed it at" in stalled["message"]
        assert [key for key in away if ".db/orders/schema/" in key]
        assert class_lab.keys(f"{class_lab.database}.db/") == []

    def test_the_data_that_is_put_back_is_found_and_nothing_is_loaded_again(
        self, away: dict[str, bytes], class_lab: Lab
    ) -> None:
        for key, body in away.items():
            class_lab.s3.put_object(Bucket="lake", Key=key, Body=body)
        class_lab.kubectl.apply(edited(class_lab, 4096))
        class_lab.ready("orders")
        assert class_lab.rows("orders") == [{"id": 1, "v": "kept"}]
        assert len(class_lab.runs("orders", "Write")) == 1
