"""Every type that `core.spec.data_types` allows can be written on every engine and read by pypaimon."""

from __future__ import annotations

import json
from typing import Any

from paimon_schema.data_types import not_writable
from paimon_schema.type_parser import parse
from tests.spark.lake import Lake

# column -> (type, what stands in the JSON file, what pypaimon reads)
WRITABLE = {
    "flag": ("BOOLEAN", True, True),
    "tiny": ("TINYINT", -128, -128),
    "small": ("SMALLINT", 32767, 32767),
    "whole": ("INT", 2147483647, 2147483647),
    "big": ("BIGINT", 9007199254740993, 9007199254740993),
    "money": ("DECIMAL(38,10)", "1.0000000001", "1.0000000001"),
    "real": ("FLOAT", 1.5, 1.5),
    "long_real": ("DOUBLE", 0.1, 0.1),
    "code": ("CHAR(3)", "abc", "abc"),
    "short_text": ("VARCHAR(5)", "häß", "häß"),
    "text": ("STRING", "x" * 1000, "x" * 1000),
    "four_bytes": ("BINARY(4)", "AAECAw==", "00010203"),
    "some_bytes": ("VARBINARY(9)", "AAE=", "0001"),
    "many_bytes": ("BYTES", "AA==", "00"),
    "day": ("DATE", "2026-11-21", "2026-11-21"),
    "second": ("TIMESTAMP(0)", "2026-11-21T01:02:03", "2026-11-21T01:02:03"),
    "milli": ("TIMESTAMP(3)", "2026-11-21T01:02:03.123", "2026-11-21T01:02:03.123000"),
    "micro": ("TIMESTAMP(6)", "2026-11-21T01:02:03.123456", "2026-11-21T01:02:03.123456"),
    "instant": ("TIMESTAMP_LTZ(3)", "2026-11-21T01:02:03.123+01:00", "2026-11-21T00:02:03.123000+00:00"),
    "items": ("ARRAY<ROW<sku STRING, n INT>>", [{"sku": "a", "n": 1}], [{"sku": "a", "n": 1}]),
}


def test_every_type_that_the_core_allows_can_be_written(lake: Lake) -> None:
    assert [t for t, _, _ in WRITABLE.values() if not_writable(parse(t))] == []

    lake.provision(
        {"id": "INT", **{c: t for c, (t, _, _) in WRITABLE.items()}}, keys=["id"], options={"bucket": "1"}
    ).ok()
    row = {"id": 1, **{column: given for column, (_, given, _) in WRITABLE.items()}}
    lake.land("orders/a.json", json.dumps(row, ensure_ascii=False))
    lake.write(format="json").ok()

    assert lake.rows() == [{"id": 1, **{column: read for column, (_, _, read) in WRITABLE.items()}}]


# Paimon's type text -> what Paimon itself writes into the table's schema file, without field numbers
STORED: dict[str, Any] = {
    "DECIMAL(12,2)": "DECIMAL(12, 2)",
    "TIMESTAMP(3)": "TIMESTAMP(3)",
    "TIMESTAMP_LTZ(3) NOT NULL": "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
    "CHAR(3)": "CHAR(3)",
    "VARCHAR(5)": "VARCHAR(5)",
    "STRING": "STRING",
    "BINARY(4)": "BINARY(4)",
    "VARBINARY(9)": "VARBINARY(9)",
    "BYTES": "BYTES",
    "ARRAY<INT NOT NULL> NOT NULL": {"type": "ARRAY NOT NULL", "element": "INT NOT NULL"},
    "MAP<STRING NOT NULL, ARRAY<ROW<`a b` INT NOT NULL, t TIMESTAMP(3)> NOT NULL>>": {
        "type": "MAP",
        "key": "STRING NOT NULL",
        "value": {
            "type": "ARRAY",
            "element": {
                "type": "ROW NOT NULL",
                "fields": [{"name": "a b", "type": "INT NOT NULL"}, {"name": "t", "type": "TIMESTAMP(3)"}],
            },
        },
    },
    "ROW<x ROW<y DECIMAL(3,1)>>": {
        "type": "ROW",
        "fields": [{"name": "x", "type": {"type": "ROW", "fields": [{"name": "y", "type": "DECIMAL(3, 1)"}]}}],
    },
}


def test_paimon_reads_the_json_form_of_every_type_and_stores_the_type_that_it_means(lake: Lake) -> None:
    columns = {f"c{number}": text for number, text in enumerate(STORED)}
    lake.provision({"id": "INT", **columns}, options={"bucket": "-1"}).ok()

    schema = json.loads((lake.table_directory / "schema" / "schema-0").read_text(encoding="utf-8"))

    assert [without_numbers(field)["type"] for field in schema["fields"]] == ["INT", *STORED.values()]


def without_numbers(node: Any) -> Any:
    """Returns a type of a schema file without the ids of its fields, which Paimon assigns itself."""
    if isinstance(node, dict):
        return {key: without_numbers(value) for key, value in node.items() if key != "id"}
    return [without_numbers(each) for each in node] if isinstance(node, list) else node


def test_a_job_of_release_0_1_creates_the_same_table(lake: Lake) -> None:
    columns = {f"c{number}": text for number, text in enumerate(STORED) if "<" not in text}
    body = {"columns": [{"name": name, "type": text} for name, text in columns.items()], "adoption": "Fail"}
    job = lake.job("Provision", provision=body)
    for column in job["provision"]["columns"]:
        del column["dataType"]

    lake.perform(job).ok()

    schema = json.loads((lake.table_directory / "schema" / "schema-0").read_text(encoding="utf-8"))
    assert [field["type"] for field in schema["fields"]] == [STORED[text] for text in columns.values()]
