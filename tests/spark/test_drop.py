"""Drop deletes the operator's table with its ledgers, and nothing else."""

from __future__ import annotations

import shutil

from tests.spark.lake import OWNER, Lake


def loaded(lake: Lake) -> None:
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1"}).ok()
    lake.land("orders/1.csv", "id\n1\n")
    lake.write(mode="Append").ok()


def test_a_drop_deletes_the_table_and_its_ledgers_and_keeps_the_database(lake: Lake) -> None:
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


def test_a_drop_of_a_missing_table_succeeds(lake: Lake) -> None:
    assert lake.drop().ok()["dropped"] is False


def test_a_table_of_another_or_no_owner_is_not_dropped(lake: Lake) -> None:
    lake.owner = "other-cluster/shop/orders"
    loaded(lake)
    lake.owner = OWNER
    assert "a PaimonTable of another cluster" in lake.drop().refused("Conflict")

    lake.outside("ALTER TABLE outside.shop.orders UNSET TBLPROPERTIES ('paimon-operator.owner')")
    assert "nobody" in lake.drop().refused("Conflict")

    assert lake.rows() == [{"id": 1}]


def test_an_interrupted_drop_is_completed_by_the_next(lake: Lake) -> None:
    """Without its schema it is no table for Paimon, but a new table of the name would see its snapshots."""
    loaded(lake)
    note = lake.ledger_directory.parent / "dropping"
    note.write_text(lake.table_directory.as_uri())
    shutil.rmtree(lake.table_directory / "schema")

    lake.drop().ok()

    assert not lake.table_directory.exists()
    assert not lake.ledger_directory.parent.exists()
