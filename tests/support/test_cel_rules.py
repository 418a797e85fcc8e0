"""Every CEL rule of the CRDs has a case that it refuses and one that it sees and admits, on the real API server.

`tests/apiserver/test_crds_refuse.py` and `test_crds_accept.py` feed these lists to it.
"""

from __future__ import annotations

from tests.support.cel_rules import CelRule, cel_rules, is_of
from tests.support.refused_edits import IDENTITY, ONCE_THE_TABLE_EXISTS
from tests.support.right_manifests import RIGHT_MANIFESTS
from tests.support.wrong_manifests import REFUSED_AT_APPLY

LEAST_RULES = 160
BY_SIZE = "must be at most 256 KiB as JSON: shorten comments, types and options, or split the table"
"""Refused by `tests/apiserver/test_spec_size.py`, in every shape."""


def test_every_rule_has_a_case_that_it_refuses() -> None:
    assert len(cel_rules()) > LEAST_RULES, "the search has gone blind"
    assert [rule for rule in cel_rules() if not is_refused(rule) and rule.message != BY_SIZE] == []


def test_every_rule_has_a_case_that_it_admits() -> None:
    """An edit that leaves the field is admitted before each edit that is refused."""
    unseen = [rule for rule in cel_rules() if not any(rule.sees(manifest) for manifest in RIGHT_MANIFESTS)]
    assert unseen == []


def is_refused(rule: CelRule) -> bool:
    if rule.of_edits:
        edits = (*IDENTITY, *ONCE_THE_TABLE_EXISTS)
        return any(each.manifest["kind"] == rule.kind and each.field == rule.field for each in edits)
    return any(
        wrong.manifest["kind"] == rule.kind and is_of(wrong.field, rule.field) and rule.says(wrong.contains)
        for wrong in REFUSED_AT_APPLY
    )
