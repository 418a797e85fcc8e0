"""A number of buckets that somebody alters by hand: nothing is written with two layouts, and a rescale makes one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.spark.drift_reports import recorded
from tests.spark.lake import Ended, Lake
from tests.spark.rescaled_table import progress

COLUMNS = {"id": "BIGINT", "v": "STRING"}
ROWS = [(number, "first") for number in range(40)]


def orders(lake: Lake, count: int, **more: Any) -> Ended:
    return lake.provision(COLUMNS, keys=["id"], options={"bucket": str(count)}, **more)


@pytest.fixture
def altered(lake: Lake) -> tuple[Lake, dict[str, Any]]:
    """A table with files in 2 buckets, whose option was set to 8, and the schema that the operator knows of it."""
    drift = recorded(orders(lake, 2).ok())
    lake.land("orders/1.csv", "id,v\n" + "".join(f"{id_},{value}\n" for id_, value in ROWS))
    lake.write().ok()
    lake.outside("ALTER TABLE outside.shop.orders SET TBLPROPERTIES ('bucket'='8')")
    return lake, drift


def test_to_declare_the_number_is_refused_without_a_rescale(altered: tuple[Lake, dict[str, Any]]) -> None:
    lake, drift = altered
    schemas = lake.schemas()
    refused = orders(lake, 8, drift=drift)
    assert "files in another number of buckets" in refused.refused("TableDiffers")
    assert [(each["field"], each["before"], each["after"]) for each in refused.result["drift"]["changes"]] == [
        ("bucket", "2", "8")
    ]
    assert lake.schemas() == schemas


def test_a_rescale_makes_one_layout_and_no_row_is_lost(altered: tuple[Lake, dict[str, Any]]) -> None:
    lake, drift = altered
    found = orders(lake, 8, drift=drift, rescales=True).ok()
    assert found["table"]["rescaling"] is True
    assert progress(lake.rescale(8)) == (1, 1, True)
    assert {each["bucket"] for each in lake.read("orders$files")} == set(range(8))
    assert sorted((row["id"], row["v"]) for row in lake.rows()) == ROWS
    assert orders(lake, 8, drift=drift).ok()["table"].get("rescaling") is None


def test_a_table_with_two_layouts_is_not_adopted(altered: tuple[Lake, dict[str, Any]]) -> None:
    lake, _ = altered
    lake.outside("ALTER TABLE outside.shop.orders UNSET TBLPROPERTIES ('paimon-operator.owner')")
    refused = orders(lake, 8, adoption="Adopt")
    assert "files in another number of buckets" in refused.refused("TableDiffers")
    assert "drift" not in refused.result, "it is not the object's own yet"


def test_a_number_that_is_altered_back_is_no_reason(altered: tuple[Lake, dict[str, Any]]) -> None:
    lake, drift = altered
    lake.outside("ALTER TABLE outside.shop.orders SET TBLPROPERTIES ('bucket'='2')")
    assert orders(lake, 2, drift=drift).ok()["drift"].get("count", 0) == 0


@pytest.mark.parametrize("operation", ["Write", "Compact"])
def test_no_run_writes_files_in_another_number_than_that_of_the_verified_table(
    altered: tuple[Lake, dict[str, Any]], operation: str
) -> None:
    """Paimon 1.4 accepts rows whose new bucket has no files yet: their keys would be there twice."""
    lake, _ = altered
    snapshots = len(lake.snapshots())
    lake.land("orders/2.csv", "id,v\n" + "".join(f"{id_},second\n" for id_ in (0, 1)))
    jobs = {"Write": lake.write_job(), "Compact": lake.compact_job()}
    assert "from 2 to 8" in lake.perform(jobs[operation] | {"bucketCount": 2}).blocked("TableAltered")
    assert len(lake.snapshots()) == snapshots
    lake.outside("ALTER TABLE outside.shop.orders SET TBLPROPERTIES ('bucket'='2')")
    lake.perform(lake.write_job() | {"bucketCount": 2}).ok()
    assert sorted((row["id"], row["v"]) for row in lake.rows()) == [(0, "second"), (1, "second"), *ROWS[2:]]
