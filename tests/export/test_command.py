"""The command of the export: from a log or from files to a file of manifests."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from paimon_contract.description import DescribedTable, Description, description_lines
from paimon_operator.export.command import main
from tests.core.export.schema_files import KEYED, schema_file
from tests.support import builders

ORDERS = schema_file(**KEYED, options={"bucket": "4"})
EXPIRING = schema_file(**KEYED, options={"partition.expiration-time": "7 d", "comment\nname: x": "y"})
OWNED = schema_file(**KEYED, options={"paimon-operator.owner": "kube-system-uid/shop/mine"})
TABLES = (
    DescribedTable(database="shop", name="orders", schema=ORDERS),
    DescribedTable(database="shop", name="expiring", schema=EXPIRING),
    DescribedTable(database="shop", name="a_view", problem="it is a view"),
    DescribedTable(database="shop", name="mine", schema=OWNED),
)


def export(*arguments: str, log: str = "") -> tuple[int, str, str]:
    target, messages = io.StringIO(), io.StringIO()
    code = main(arguments, io.StringIO(log), target, messages)
    return code, target.getvalue(), messages.getvalue()


def log_of(*tables: DescribedTable, **catalog: Any) -> str:
    manifest = json.dumps(builders.catalog_manifest(**catalog))
    lines = description_lines(Description(catalog=manifest, engine="paimon-1.4", tables=tables))
    return "\n".join(["SparkContext: ready", *lines, '{"ok":true}', ""])


def names_in(text: str) -> list[str]:
    return [each["metadata"]["name"] for each in yaml.safe_load_all(text) if each]


def test_the_tables_of_a_log_become_manifests_and_the_others_comments() -> None:
    code, text, messages = export(log=log_of(*TABLES))
    assert (code, messages) == (0, "4 tables: 1 manifests, 3 as comments\n")
    assert names_in(text) == ["orders"]
    assert "# not exported: shop.a_view\n# spec.table: it is a view." in text
    assert "# spec.retention.partitions.expirationTime: the table has partition.expiration-time=7 d" in text
    assert "#   adoptionPolicy: Adopt\n" in text, "this one differs in nothing else"
    assert "# owner: PaimonTable shop/mine, cluster kube-system-uid\n" in text


def test_a_comment_that_is_uncommented_is_a_manifest() -> None:
    _, text, _ = export(log=log_of(TABLES[1]))
    lines = [line[2:] for line in text.splitlines() if line.startswith("# ")]
    assert names_in("\n".join(lines[lines.index("---") :])) == ["expiring"]


def test_tables_with_an_owner_are_exported_when_they_are_asked_for() -> None:
    _, text, _ = export("--owned", log=log_of(*TABLES))
    assert names_in(text) == ["orders", "mine"]
    assert "---\n# owner: PaimonTable shop/mine, cluster kube-system-uid\napiVersion:" in text


def test_the_head_of_the_file_says_how_to_get_tables_with_an_owner() -> None:
    hint = "--owned makes manifests of those."
    _, text, _ = export(log=log_of(*TABLES))
    assert f"# 1 of them have an owner, which is a PaimonTable: {hint}\n" in text
    assert hint not in export("--owned", log=log_of(*TABLES))[1]
    assert hint not in export(log=log_of(*TABLES[:3]))[1]


def test_an_option_with_a_line_break_in_its_name_stays_a_comment() -> None:
    _, text, _ = export(log=log_of(TABLES[1]))
    assert all(line.startswith("#") for line in text.splitlines() if line)


def test_the_tables_of_a_directory_become_manifests(tmp_path: Path) -> None:
    for database, table, number, schema in (
        ("shop", "orders", 9, "old"),
        ("shop", "orders", 10, ORDERS),
        ("sales", "orders", 0, ORDERS),
        ("other", "orders", 0, ORDERS),
    ):
        directory = tmp_path / f"{database}.db" / table / "schema"
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"schema-{number}").write_text(schema)
    (tmp_path / "shop.db" / "empty" / "schema").mkdir(parents=True)
    (tmp_path / "shop.db" / "notes.txt").write_text("no table")
    catalog = tmp_path / "catalog.yaml"
    catalog.write_text(yaml.safe_dump(builders.catalog_manifest(allowedDatabases=["shop", "sales", "missing"])))
    code, text, _ = export("--warehouse", str(tmp_path), "--catalog", str(catalog))
    assert (code, names_in(text)) == (0, ["orders", "sales--orders"])
    assert "# not exported: shop.empty\n" in text


@pytest.mark.parametrize(
    ("sentence", "arguments", "log", "message"),
    [
        ("no description", [], "SparkContext: ready", "there is no description"),
        ("no catalog", ["--warehouse", "/"], "", "--warehouse needs --catalog"),
        ("a catalog of another release", [], log_of(storage=[]), "no PaimonCatalog of this release: spec.storage"),
        ("no such directory", ["--warehouse", "/no/such", "--catalog", "/no/such"], "", "No such file"),
    ],
)  # fmt: skip
def test_input_that_cannot_be_exported_ends_with_a_message(
    sentence: str, arguments: list[str], log: str, message: str
) -> None:
    code, text, messages = export(*arguments, log=log)
    assert (code, text) == (2, ""), sentence
    assert message in messages


def test_options_that_mean_nothing_to_paimon_are_named_above_the_manifest() -> None:
    foreign = schema_file(**KEYED, options={"transient_lastDdlTime": "1", "sink.parallelism": "4", "bucket": "4"})
    _, text, _ = export(log=log_of(DescribedTable(database="shop", name="orders", schema=foreign)))
    note = "# stays in the table, no option of Paimon: sink.parallelism, transient_lastDdlTime\n"
    assert f"---\n{note}apiVersion:" in text


@pytest.mark.parametrize(
    ("of_catalog", "given", "code"),
    [("paimon-0.9", [], 0), (None, ["--engine", "paimon-0.9"], 0), ("paimon-0.9", ["--engine", "paimon-1.4"], 0),
     (None, [], 0), (None, ["--engine", "paimon-3"], 2)],
)  # fmt: skip
def test_the_engine_is_that_of_the_catalog_then_the_given_one_then_the_newest(
    tmp_path: Path, of_catalog: str | None, given: list[str], code: int
) -> None:
    directory = tmp_path / "shop.db" / "orders" / "schema"
    directory.mkdir(parents=True)
    (directory / "schema-0").write_text(schema_file(**KEYED, options={"bucket": "-2", "write-only": "true"}))
    catalog = tmp_path / "catalog.yaml"
    catalog.write_text(yaml.safe_dump(builders.catalog_manifest(engine=of_catalog)))
    found, text, messages = export("--warehouse", str(tmp_path), "--catalog", str(catalog), *given)
    assert found == code
    is_old = "paimon-0.9" in (of_catalog, *given)
    assert ("has no buckets of type Postpone" in text) is is_old
    assert ("there is no engine 'paimon-3' here" in messages) is (code != 0)
