"""Default values of columns: what each engine stores for NULL and for an absent column, and why some are refused."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.core.validation.table import broken_rules
from tests.spark.lake import Ended, Lake
from tests.support import builders

COLUMNS = {
    "id": "BIGINT",
    "v": "INT",
    "w": "STRING",
    "d": "DATE",
    "t": "TIMESTAMP(6)",
    "x": "DECIMAL(6,2)",
    "b": "BOOLEAN",
}
DEFAULTS = {"v": "-7", "w": "it's new", "d": "2026-01-31", "t": "2026-01-31 12:00:00.5", "x": "1.5", "b": "true"}
FILLED = {"v": -7, "w": "it's new", "d": "2026-01-31", "t": "2026-01-31T12:00:00.500000", "x": "1.50", "b": True}
BUCKET = {"bucket": "1"}


def create(lake: Lake, defaults: dict[str, str], columns: dict[str, str] = COLUMNS, **more: Any) -> Ended | None:
    """Performs Provision; None on an engine that stores no default values, which reconcile refuses."""
    engine = builders.engines()[lake.engine.id]
    if engine.stores_default_values:
        return lake.provision(columns, defaults=defaults, **{"keys": ["id"], "options": BUCKET, **more})
    schema = {"columns": [{"name": "id", "type": "BIGINT"}, {"name": "v", "type": "INT", "defaultValue": "7"}]}
    table = builders.table(schema=schema)
    (error,) = broken_rules(builders.context(table, builders.catalog(engine=engine.id)))
    assert error.reason == Reason.UNSUPPORTED_BY_ENGINE
    return None


def write(lake: Lake, number: int, text: str, mode: str = "Upsert") -> Ended:
    lake.land(f"orders/{number}.csv", text)
    return lake.write(mode=mode)


@pytest.mark.parametrize("engine_options", [BUCKET, BUCKET | {"merge-engine": "first-row"}, None], ids=str)
def test_a_default_value_is_stored_for_null_and_for_an_absent_column(
    lake: Lake, engine_options: dict[str, str] | None
) -> None:
    keys, options = (["id"], engine_options) if engine_options else ([], {})
    if create(lake, DEFAULTS, keys=keys, options=options) is None:
        return
    mode = "Upsert" if keys else "Append"
    write(lake, 1, "id\n1\n", mode).ok()
    write(lake, 2, "id,v,w,d,t,x,b\n2,,,,,,\n3,5,x,2020-01-01,2020-01-01T00:00:00,9.99,false\n", mode).ok()

    absent, null, given = lake.rows()

    assert (absent, null) == ({"id": 1} | FILLED, {"id": 2} | FILLED)
    assert given["v"] == 5


def test_the_same_manifest_verifies_the_table_without_a_change(lake: Lake) -> None:
    if (made := create(lake, DEFAULTS)) is None:
        return
    assert made.ok()["created"] is True
    again = create(lake, DEFAULTS)
    assert again is not None
    assert (again.ok()["created"], lake.schemas()) == (False, 1)


@pytest.mark.parametrize(("merge_engine", "value"), [("partial-update", -7), ("aggregation", -2)])
def test_a_default_value_would_overwrite_what_a_row_leaves_out(lake: Lake, merge_engine: str, value: int) -> None:
    """Rows that leave a column out keep its value under these engines, but not if the column has a default value."""
    options = (
        BUCKET
        | {"merge-engine": merge_engine}
        | ({"fields.v.aggregate-function": "sum"} if merge_engine == "aggregation" else {})
    )
    if create(lake, {"v": "-7"}, options=options) is None:
        return
    write(lake, 1, "id,v\n1,5\n").ok()
    write(lake, 2, "id,w\n1,x\n").ok()
    assert lake.rows()[0]["v"] == value


def test_a_default_of_a_bucket_key_is_filled_in_after_the_bucket_was_chosen(lake: Lake) -> None:
    options = {"bucket": "5", "bucket-key": "w"}
    if create(lake, {"w": "home"}, keys=[], options=options) is None:
        return
    write(lake, 1, "id,w\n1,\n", "Append").ok()
    write(lake, 2, "id,w\n2,home\n", "Append").ok()
    assert [row["w"] for row in lake.rows()] == ["home", "home"]
    assert len(list(lake.table_directory.glob("bucket-*"))) == 2, "one key in two buckets"


def test_a_column_that_is_not_null_gets_no_default_value(lake: Lake) -> None:
    if create(lake, {"v": "-7"}, COLUMNS | {"v": "INT NOT NULL"}) is None:
        return
    write(lake, 1, "id\n1\n").refused("InputSchemaMismatch")


def test_a_text_that_is_no_value_of_the_type_is_stored_as_another_value(lake: Lake) -> None:
    """Paimon cuts, rounds or drops these without a word, so that reconcile refuses them."""
    wrong = {"v": "1.5", "x": "1.555", "w": "'new'"}
    if create(lake, wrong, {"id": "BIGINT", "v": "INT", "x": "DECIMAL(6,2)", "w": "STRING"}) is None:
        return
    write(lake, 1, "id\n1\n").ok()
    assert lake.rows() == [{"id": 1, "v": 1, "x": "1.56", "w": "new"}]


def test_an_engine_without_default_values_stores_null(lake: Lake) -> None:
    """0.9 has an option for defaults at reads alone: the rows that other readers and engines see have NULL."""
    if builders.engines()[lake.engine.id].stores_default_values:
        return
    lake.provision({"id": "BIGINT", "v": "INT"}, keys=["id"], options=BUCKET | {"fields.v.default-value": "7"}).ok()
    write(lake, 1, "id\n1\n").ok()
    assert lake.rows() == [{"id": 1, "v": None}]
