"""The list of attacks: docs/access.md shows it, its tests exist, and every finding of the security review has a row."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.apiserver.attacks import ATTACKS
from tests.apiserver.attacks.attack import Attack
from tests.apiserver.attacks.page import BEGIN, END, with_section

CHECKOUT = Path(__file__).parents[2]
PAGE = CHECKOUT / "docs" / "access.md"
FINDINGS = [f"S{number}" for number in range(1, 12)]
BY_ID = pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)


@cache
def functions_in(file: str) -> frozenset[str]:
    """Names of the functions that a Python file defines."""
    tree = ast.parse((CHECKOUT / file).read_text())
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_the_page_shows_the_list() -> None:
    assert PAGE.read_text() == with_section(PAGE.read_text()), "run `make generate`"


def test_a_page_without_the_markers_is_refused() -> None:
    with pytest.raises(ValueError, match="the page has no lines"):
        with_section(f"{END}\n{BEGIN}\n")


@BY_ID
def test_the_tests_of_an_attack_exist(attack: Attack) -> None:
    assert attack.tests
    for test in attack.tests:
        file, _, name = test.partition("::")
        names = functions_in(file)
        assert name in names if name else any(each.startswith("test_") for each in names), test


@BY_ID
def test_an_attack_is_expected_of_those_who_try_it(attack: Attack) -> None:
    assert {*attack.expected, *attack.expected_without} <= {*attack.actors}
    assert bool(attack.without) == (attack.expected != {**attack.expected, **attack.expected_without}), (
        "the text about the policies and the outcomes without them differ"
    )


def test_no_two_attacks_have_one_name() -> None:
    assert len({attack.id for attack in ATTACKS}) == len(ATTACKS)


@pytest.mark.parametrize("finding", FINDINGS)
def test_every_finding_of_the_security_review_has_an_attack(finding: str) -> None:
    assert any(finding in attack.findings for attack in ATTACKS)
