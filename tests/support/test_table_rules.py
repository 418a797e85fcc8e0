"""The rules about settings: each has a manifest that it admits, each CEL rule is in the list, and the page shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core.validation.table import broken_rules
from paimon_operator.generate.crd import RESOURCES, definition
from tests.support import builders
from tests.support.table_rules import TABLE_RULES
from tests.support.table_rules.page import page
from tests.support.table_rules.rule import TableRule
from tests.support.wrong_manifests import WRONG_MANIFESTS

CHECKOUT = Path(__file__).parents[2]
SETTINGS = (
    "schema", "bucket", "mergeEngine", "sequence", "changelogProducer", "deletionVectors", "options", "externalWriters",
    "compaction",
)  # fmt: skip
"""Parts of the spec whose CEL rules the list covers, with the wrong manifests about columns and maintenance."""
BY_ID = pytest.mark.parametrize("rule", TABLE_RULES, ids=lambda rule: rule.id)


def test_the_page_shows_the_list() -> None:
    assert (CHECKOUT / "docs" / "rules.md").read_text() == page().rstrip() + "\n", "run `make generate`"


def test_each_rule_has_an_id_of_its_own() -> None:
    ids = [rule.id for rule in TABLE_RULES]
    assert len(ids) == len(set(ids))


@BY_ID
def test_reconcile_admits_the_right_manifest_of_a_rule(rule: TableRule) -> None:
    table = PaimonTable.model_validate(rule.right)
    assert broken_rules(builders.context(table, builders.catalog(engine="paimon-1.4"))) == ()


@BY_ID
def test_the_test_that_a_rule_names_exists(rule: TableRule) -> None:
    named = re.match(r"(tests/\S+\.py)(?:: (test_\w+))?", rule.source)
    if named is not None:
        assert (named[2] or "") in (CHECKOUT / named[1]).read_text()


def cel_rules(schema: dict[str, Any], path: str) -> Iterator[tuple[str, str]]:
    """Path and message of each CEL rule at or below `path`, except those of updates."""
    for each in schema.get("x-kubernetes-validations", []):
        if "oldSelf" not in each["rule"]:
            yield f"{path}{each.get('fieldPath', '')}", each["message"]
    for name, member in schema.get("properties", {}).items():
        yield from cel_rules(member, f"{path}.{name}")
    for inner in ("items", "additionalProperties"):
        if isinstance(schema.get(inner), dict):
            yield from cel_rules(schema[inner], f"{path}[]")


def table_rules() -> list[tuple[str, str]]:
    (resource,) = (each for each in RESOURCES if each.kind == "PaimonTable")
    spec = definition(resource)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    found = list(cel_rules(spec, "spec"))
    return [(path, message) for path, message in found if path.removeprefix("spec.").split(".")[0] in SETTINGS]


def test_every_cel_rule_about_settings_has_a_manifest_that_it_refuses() -> None:
    assert len(table_rules()) > 60, "the search has gone blind"
    refused = [
        wrong for wrong in WRONG_MANIFESTS if wrong.manifest["kind"] == "PaimonTable" and wrong.caught_by == "apiserver"
    ]
    unproven = [
        (path, message)
        for path, message in table_rules()
        if not any(_is_of(wrong.field, path) and _says(message, wrong.contains) for wrong in refused)
    ]
    assert unproven == []


def _is_of(field: str, path: str) -> bool:
    return re.sub(r"\[\d+\]", "[]", field) == path.removesuffix("[]")


def _says(message: str, words: str) -> bool:
    """Whether a rule's message has these words. Messages about options quote the key, which the static text cannot."""
    return words in message or "option" in message
