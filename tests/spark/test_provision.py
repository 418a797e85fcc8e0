"""Provision creates, verifies, adopts and alters tables. It reports differences that it must not alter."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.spark.lake import OWNER, Lake
from tests.support import lake_reader

COLUMNS = {"id": "BIGINT", "amount": "DECIMAL(12,2)", "note": "STRING"}
OPTIONS = {"bucket": "2", "write-only": "true", "merge-engine": "deduplicate"}


def orders(lake: Lake, columns: dict[str, str] = COLUMNS, **more: Any) -> Any:
    return lake.provision(columns, **{"keys": ["id"], "options": OPTIONS, **more})


def stored_options(lake: Lake) -> dict[str, str]:
    rows = lake_reader.read_rows(lake.warehouse, "shop", "orders$options")
    return {row["key"]: row["value"] for row in rows}


def test_a_column_can_have_every_type_of_paimon(lake: Lake) -> None:
    types = {
        "k": "BIGINT",
        "a": "BOOLEAN",
        "b": "TINYINT NOT NULL",
        "c": "DECIMAL(12, 2)",
        "d": "CHAR(3)",
        "e": "VARCHAR(10)",
        "f": "BINARY(3)",
        "g": "BYTES",
        "h": "DATE",
        "i": "TIMESTAMP(6)",
        "j": "TIMESTAMP_LTZ(6)",
        "l": "TIME(3)",
        "m": "ARRAY<ROW<sku STRING, n INT>>",
        "n": "MAP<STRING, ARRAY<ROW<`a b` INT NOT NULL, t TIMESTAMP(3)>>>",
        "o": "ROW<x DOUBLE, y FLOAT> NOT NULL",
    }

    created = lake.provision(types, keys=["k"], options={"bucket": "1"}).ok()

    assert (created["created"], created["table"]["bucketMode"]) == (True, "Fixed")
    assert lake.provision(types, keys=["k"], options={"bucket": "1"}).ok()["created"] is False
    assert lake.schemas() == 1


DDL = """CREATE TABLE outside.shop.orders (id BIGINT, amount DECIMAL(12,2), note STRING) TBLPROPERTIES ('bucket'='2',
    'primary-key'='id', 'write-only'='true', 'merge-engine'='deduplicate', 'snapshot.time-retained'='7 d')"""


def made_outside(lake: Lake) -> None:
    lake.outside("CREATE DATABASE outside.shop", DDL)


def test_a_table_without_an_owner_is_adopted_with_its_data_and_its_other_options(lake: Lake) -> None:
    made_outside(lake)
    lake.outside("INSERT INTO outside.shop.orders VALUES (1, 2.5, 'x')")

    adopted = orders(lake, adoption="Adopt").ok()

    assert adopted["created"] is False
    assert (adopted["table"]["rows"], adopted["table"]["snapshotId"]) == (1, 1)
    stored = stored_options(lake)
    assert stored["paimon-operator.owner"] == OWNER
    assert stored["snapshot.time-retained"] == "7 d", "the manifest does not set it"
    assert lake.rows() == [{"id": 1, "amount": "2.50", "note": "x"}]


def test_adoption_policy_fail_refuses_a_table_without_an_owner(lake: Lake) -> None:
    made_outside(lake)

    orders(lake, adoption="Fail").refused("TableExists")

    assert lake.schemas() == 1


def test_verifying_an_unchanged_table_writes_nothing(lake: Lake) -> None:
    orders(lake).ok()
    before = sorted(lake.table_directory.rglob("*"))

    again = orders(lake).ok()

    assert "differences" not in again
    assert sorted(lake.table_directory.rglob("*")) == before


def test_mutable_options_are_altered_in_one_step(lake: Lake) -> None:
    orders(lake, options={**OPTIONS, "snapshot.num-retained.min": "5"}).ok()

    altered = orders(lake, options={**OPTIONS, "write-only": "false", "snapshot.time-retained": "2 d"}).ok()

    assert lake.schemas() == 2
    stored = stored_options(lake)
    assert stored["snapshot.time-retained"] == "2 d"
    assert stored["write-only"] == "false"
    assert "snapshot.num-retained.min" not in stored, "it has left the manifest"
    assert "option write-only: true -> false" in altered["differences"]


def test_an_option_equal_to_its_default_is_no_difference(lake: Lake) -> None:
    orders(lake, options={"bucket": "2"}).ok()
    stored = lake.schemas()

    orders(lake, options={"bucket": "2", "merge-engine": "deduplicate"}).ok()

    assert "merge-engine" not in stored_options(lake)
    assert lake.schemas() <= stored + 1, "only the list of managed options may have changed"


def stored_comments(lake: Lake) -> dict[str, str | None]:
    """Returns the comments of the newest schema file by column, the table's comment under ``."""
    newest = max((lake.table_directory / "schema").glob("schema-*"), key=lambda path: int(path.name.partition("-")[2]))
    schema = json.loads(newest.read_text(encoding="utf-8"))
    found = {"": schema.get("comment")} | {each["name"]: each.get("description") for each in schema["fields"]}
    return {name: comment for name, comment in found.items() if comment is not None}


def test_comments_are_altered_and_those_that_leave_the_manifest_are_removed(lake: Lake) -> None:
    orders(lake, comment="old", comments={"id": "stays"}).ok()

    altered = orders(lake, comment="new", comments={"id": "stays", "amount": "with tax"}).ok()
    assert {"comment of column amount", "comment of the table"} <= set(altered["differences"])
    assert stored_comments(lake) == {"": "new", "id": "stays", "amount": "with tax"}
    assert lake.schemas() == 2

    fewer = orders(lake, comments={"id": "stays"}).ok()
    assert {"comment of column amount", "comment of the table"} <= set(fewer["differences"])
    assert stored_comments(lake) == {"id": "stays"}

    orders(lake).ok()
    assert stored_comments(lake) == {}
    assert "paimon-operator.comments" not in stored_options(lake)
    schemas = lake.schemas()
    assert "differences" not in orders(lake).ok()
    assert lake.schemas() == schemas


def test_comments_of_an_adopted_table_stay_until_a_manifest_has_set_them(lake: Lake) -> None:
    commented = DDL.replace("amount DECIMAL(12,2)", "amount DECIMAL(12,2) COMMENT 'theirs'")
    lake.outside(
        "CREATE DATABASE outside.shop", commented.replace(" TBLPROPERTIES", " COMMENT 'their table' TBLPROPERTIES")
    )

    orders(lake, comments={"note": "ours"}, adoption="Adopt").ok()
    orders(lake).ok()
    assert stored_comments(lake) == {"": "their table", "amount": "theirs"}, "only ours went with the manifest"

    orders(lake, comments={"amount": "theirs"}, comment="their table").ok()
    orders(lake).ok()
    assert stored_comments(lake) == {}, "a manifest had them and has them no more"


FROZEN = ", and it cannot change once the table exists"
DIFFERENCES: dict[str, tuple[dict[str, Any], str, str]] = {
    "type": (
        {"columns": {**COLUMNS, "amount": "DECIMAL(10,2)"}},
        "column amount: DECIMAL(10,2) does not hold every value of DECIMAL(12,2)",
        "spec.schema.columns[amount].type",
    ),
    "family": (
        {"columns": {**COLUMNS, "note": "INT"}},
        "column note: STRING and INT are of different families",
        "spec.schema.columns[note].type",
    ),
    "not null": (
        {"columns": {**COLUMNS, "note": "STRING NOT NULL"}},
        "column note: it may hold NULL, and NOT NULL cannot be added",
        "spec.schema.columns[note].type",
    ),
    "dropped key": (
        {"columns": {"amount": "DECIMAL(12,2)"}, "dropped": ["id"], "keys": []},
        "column id is used by the primary key: it is not dropped",
        "spec.schema.primaryKeys",
    ),
    "key": ({"keys": ["id", "note"]}, "primary key: table has id, manifest has id, note", "spec.schema.primaryKeys"),
    "bucket": (
        {"options": {**OPTIONS, "bucket": "4"}},
        f"option bucket: table has 2, manifest has 4{FROZEN}",
        "spec.options[bucket]",
    ),
    "merge engine": (
        {"options": {**OPTIONS, "merge-engine": "first-row"}},
        f"option merge-engine: table has deduplicate, manifest has first-row{FROZEN}",
        "spec.options[merge-engine]",
    ),
    "partitions": (
        {"partitions": ["id"]},
        "partition keys: table has none, manifest has id",
        "spec.schema.partitionKeys",
    ),
    "sequence": (
        {"options": {**OPTIONS, "sequence.field": "amount"}},
        "option sequence.field: table has unset, manifest has amount",
        "spec.options[sequence.field]",
    ),
}


@pytest.mark.some_rows(4)
@pytest.mark.parametrize(("change", "sentence", "field"), DIFFERENCES.values(), ids=DIFFERENCES.keys())
def test_a_difference_that_cannot_be_altered_is_reported_with_its_field(
    lake: Lake, change: dict[str, Any], sentence: str, field: str
) -> None:
    orders(lake).ok()

    refused = orders(lake, **change)

    assert sentence in refused.refused("TableDiffers")
    assert refused.error["field"] == field
    assert lake.schemas() == 1


def test_with_several_differences_the_field_is_that_of_the_first(lake: Lake) -> None:
    orders(lake).ok()

    refused = orders(lake, options={**OPTIONS, "bucket": "4"}, columns={**COLUMNS, "note": "INT"})

    assert refused.refused("TableDiffers").endswith(f"option bucket: table has 2, manifest has 4{FROZEN}")
    assert refused.error["field"] == "spec.schema.columns[note].type"


def test_a_table_of_another_owner_is_not_changed(lake: Lake) -> None:
    lake.owner = "other-cluster/shop/orders"
    orders(lake).ok()
    lake.owner = OWNER

    message = orders(lake, options={**OPTIONS, "write-only": "false"}).refused("Conflict")

    assert "a PaimonTable of another cluster" in message
    assert lake.schemas() == 1


def test_adoption_policy_fail_does_not_refuse_the_owners_table(lake: Lake) -> None:
    orders(lake, adoption="Fail").ok()

    assert orders(lake, adoption="Fail").ok()["created"] is False


@pytest.mark.some_rows(3)
@pytest.mark.parametrize(
    ("change", "reason", "field"),
    [
        ({"columns": {"id": "BIGINT", "v": "NUMBER"}}, "InvalidSpec", "spec.schema.columns[v].type"),
        ({"columns": {"id": "BIGINT", "v": "ARRAY<INT"}}, "InvalidSpec", "spec.schema.columns[v].type"),
        ({"columns": {"id": "BIGINT", "v": "INT; DROP TABLE x"}}, "InvalidSpec", "spec.schema.columns[v].type"),
        ({"keys": ["nothing"]}, "TableRefused", "spec.schema.primaryKeys"),
        ({"partitions": ["nothing"]}, "TableRefused", "spec.schema.partitionKeys"),
        ({"options": {"bucket": "0"}}, "TableRefused", "spec.options[bucket]"),
        ({"options": {"bucket": "1", "sequence.field": "nothing"}}, "TableRefused", "spec.options[sequence.field]"),
        ({"columns": COLUMNS | {"_VALUE_KIND": "INT"}}, "TableRefused", "spec.schema.columns[_VALUE_KIND]"),
        ({"keys": ["nothing"], "options": {"bucket": "0"}}, "TableRefused", "spec.schema.primaryKeys"),
    ],
    ids=[
        "unknown-type",
        "open-bracket",
        "sql",
        "key",
        "partition",
        "bucket-0",
        "sequence",
        "system-column",
        "two-at-once",
    ],
)
def test_a_table_that_paimon_refuses_is_reported_with_paimons_message_and_the_field(
    lake: Lake, change: dict[str, Any], reason: str, field: str
) -> None:
    refused = orders(lake, **change)

    assert refused.refused(reason)
    assert refused.error["field"] == field
    assert not lake.table_directory.parent.exists()
