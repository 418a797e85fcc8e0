"""Drop deletes the operator's table with its ledgers, and nothing else."""

from __future__ import annotations

import json
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


def adopted(lake: Lake, **how: str) -> None:
    """Another program has made the table, and the operator has taken it over."""
    lake.outside(
        "CREATE DATABASE IF NOT EXISTS outside.shop",
        "CREATE TABLE outside.shop.orders (id BIGINT) TBLPROPERTIES ('bucket'='-1')",
        "INSERT INTO outside.shop.orders VALUES (1)",
    )
    assert lake.provision({"id": "BIGINT"}, options={"bucket": "-1"}, **how).ok()["created"] is False


def test_a_table_that_was_taken_over_is_kept(lake: Lake) -> None:
    """S9: AdoptIfIdentical and Delete dropped every table of the database that somebody could describe."""
    adopted(lake)
    ended = lake.drop().ok()
    assert (ended["dropped"], ended["kept"]) == (False, True)
    assert lake.rows() == [{"id": 1}]
    assert lake.provision({"id": "BIGINT"}, options={"bucket": "-1"}).ok()["created"] is False
    assert lake.drop().ok()["kept"] is True, "taking it over again changes nothing"


def test_a_table_that_was_taken_over_by_adopt_is_dropped(lake: Lake) -> None:
    adopted(lake, adoption="Adopt")
    assert lake.drop(alsoAdopted=True).ok()["dropped"] is True
    assert not lake.table_directory.exists()


def test_a_drop_that_was_interrupted_after_the_first_schema_is_completed(lake: Lake) -> None:
    """The first schema shows that the table is the object's own. Paimon deletes the files in any order."""
    loaded(lake)
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1", "file.compression": "lz4"}).ok()
    marker, schemas = lake.ledger_directory.parent / "dropping", lake.table_directory / "schema"
    times = {path.name: json.loads(path.read_text())["timeMillis"] for path in schemas.glob("schema-*")}
    assert sorted(times) == ["schema-0", "schema-1"]
    marker.write_text(f"{lake.table_directory.as_uri()};0/{times['schema-0']};1/{times['schema-1']}")
    (schemas / "schema-0").unlink()

    assert lake.drop().ok()["dropped"] is True

    assert not lake.table_directory.exists()


def test_the_note_of_a_drop_of_another_table_drops_no_table_that_was_taken_over(lake: Lake) -> None:
    """Its drop was skipped half-way, and somebody has made a table of the same name since."""
    marker = lake.ledger_directory.parent / "dropping"
    marker.parent.mkdir(parents=True)
    marker.write_text(f"{lake.table_directory.as_uri()};0/1;1/2")
    adopted(lake)
    assert lake.drop().ok()["kept"] is True
