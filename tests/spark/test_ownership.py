"""No operation changes a table of another owner, and a drop deletes nothing outside the table's directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spark.lake import OWNER, Lake

pytestmark = pytest.mark.newest_engine


@pytest.fixture
def loaded(lake: Lake) -> Lake:
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1"}).ok()
    lake.land("orders/1.csv", "id\n1\n")
    lake.write(mode="Append").ok()
    return lake


@pytest.mark.parametrize("owner", ["other-cluster/shop/orders", None])
def test_a_table_with_a_new_owner_is_neither_written_nor_compacted_nor_expired(loaded: Lake, owner: str | None) -> None:
    change = (
        f"SET TBLPROPERTIES ('paimon-operator.owner'='{owner}')"
        if owner
        else "UNSET TBLPROPERTIES ('paimon-operator.owner')"
    )
    loaded.outside(f"ALTER TABLE outside.shop.orders {change}")
    loaded.land("orders/2.csv", "id\n2\n")
    before = loaded.snapshots()

    for run in (loaded.write(mode="Append"), loaded.compact(), loaded.expire(numRetainedMin=1, numRetainedMax=1)):
        assert ("a PaimonTable of another cluster" if owner else "nobody") in run.blocked("Conflict")

    assert loaded.snapshots() == before


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """Creates a file in a place where the operator must not delete."""
    file = tmp_path / "elsewhere" / "precious.txt"
    file.parent.mkdir()
    file.write_text("not yours")
    return file


@pytest.mark.parametrize("still_named", [True, False])
def test_a_drop_does_not_delete_other_paths_in_the_tables_options(lake: Lake, victim: Path, still_named: bool) -> None:
    options = {
        "data-file.external-paths": victim.parent.as_uri(),
        "data-file.external-paths.strategy": "round-robin",
        "paimon-operator.owner": OWNER,
    }
    listed = ", ".join(f"'{key}'='{value}'" for key, value in options.items())
    lake.outside(
        "CREATE DATABASE outside.shop", f"CREATE TABLE outside.shop.orders (id BIGINT) TBLPROPERTIES ({listed})"
    )
    if not still_named:
        lake.outside("ALTER TABLE outside.shop.orders UNSET TBLPROPERTIES ('data-file.external-paths')")

    assert "data-file.external-paths" in lake.drop().refused("Conflict")

    assert victim.read_text() == "not yours"
    assert lake.table_directory.exists()


def test_a_note_of_an_unfinished_drop_cannot_name_another_path(lake: Lake, victim: Path) -> None:
    note = lake.ledger_directory.parent / "dropping"
    note.parent.mkdir(parents=True)
    note.write_text(victim.parent.as_uri())

    lake.drop().ok()

    assert victim.read_text() == "not yours"


def test_a_write_once_waits_for_missing_files(lake: Lake) -> None:
    lake.provision({"id": "BIGINT"}, options={"bucket": "-1"}).ok()
    lake.land("orders/_temporary/1.csv", "id\n1\n")

    assert "holds no file yet" in lake.write(mode="Append", once=True).refused("InputNotFound")

    lake.land("orders/1.csv", "id\n1\n")
    assert lake.write(mode="Append", once=True).ok()["write"]["rows"] == 1
