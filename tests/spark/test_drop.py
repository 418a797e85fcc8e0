"""Drop takes the operator's own table with its ledgers, and nothing else."""

from __future__ import annotations

import shutil

from tests.spark.lake import OWNER, Lake


def loaded(lake: Lake) -> None:
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1"}).ok()
    lake.land("orders/1.csv", "id\n1\n")
    lake.write(mode="Append").ok()


def test_the_table_and_its_ledgers_go_and_the_database_stays(lake: Lake) -> None:
    loaded(lake)
    neighbour = lake.ledger_directory.parent.parent / "shop.other"
    neighbour.mkdir()

    assert lake.drop().ok()["dropped"] is True

    assert not lake.table_directory.exists()
    assert lake.table_directory.parent.is_dir()
    assert not lake.ledger_directory.parent.exists()
    assert neighbour.is_dir()
    loaded(lake)
    assert lake.rows() == [{"id": 1}], "a new table starts with an empty ledger"


def test_a_table_that_is_not_there_is_dropped_already(lake: Lake) -> None:
    assert lake.drop().ok()["dropped"] is False


def test_a_table_of_somebody_else_or_of_nobody_stays(lake: Lake) -> None:
    lake.owner = "other-cluster/shop/orders"
    loaded(lake)
    lake.owner = OWNER
    assert "other-cluster/shop/orders" in lake.drop().refused("Conflict")

    lake.outside("ALTER TABLE outside.shop.orders UNSET TBLPROPERTIES ('paimon-operator.owner')")
    assert "nobody" in lake.drop().refused("Conflict")

    assert lake.rows() == [{"id": 1}]


def test_a_drop_that_died_half_way_is_finished_by_the_next(lake: Lake) -> None:
    """Without its schema the rest is no table to Paimon, but a new table of the name would see its snapshots."""
    loaded(lake)
    note = lake.ledger_directory.parent / "dropping"
    note.write_text(lake.table_directory.as_uri())
    shutil.rmtree(lake.table_directory / "schema")

    lake.drop().ok()

    assert not lake.table_directory.exists()
    assert not lake.ledger_directory.parent.exists()
