"""The rules about settings: each has a manifest that it admits, and the page shows it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core.validation.table import broken_rules
from tests.support import builders
from tests.support.manifests import Manifest
from tests.support.table_rules import TABLE_RULES
from tests.support.table_rules.page import page
from tests.support.table_rules.remedies import REMEDIES
from tests.support.table_rules.rule import TableRule

CHECKOUT = Path(__file__).parents[2]
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


@pytest.mark.parametrize("manifest", REMEDIES.values(), ids=REMEDIES)
def test_reconcile_admits_what_the_messages_advise(manifest: Manifest) -> None:
    assert broken_rules(builders.context(PaimonTable.model_validate(manifest))) == ()


@BY_ID
def test_the_test_that_a_rule_names_exists(rule: TableRule) -> None:
    named = re.match(r"(tests/\S+\.py)(?:: (test_\w+))?", rule.source)
    if named is not None:
        assert (named[2] or "") in (CHECKOUT / named[1]).read_text()
