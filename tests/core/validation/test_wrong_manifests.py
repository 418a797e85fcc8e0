"""The operator refuses what the CRDs refuse, because a stored object may have passed an older CRD.

`tests/apiserver/test_crds_refuse.py` feeds the same list to a real API server.
"""

from __future__ import annotations

import pytest

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.validation.table import broken_rules
from tests.support import builders
from tests.support.blamed_fields import MODELS, fields_blamed
from tests.support.manifests import Manifest, append_table, catalog, keyed_table, run
from tests.support.wrong_manifest import WrongManifest
from tests.support.wrong_manifests import REFUSED_AT_APPLY
from tests.support.wrong_repetitions import REPETITIONS

UNKNOWN_FIELDS = {
    "a field that does not exist",
    "settings of Spark in a table",
    "an overlay in a table",
    "an overlay that mounts",
    "an overlay with another user",
}
"""Checked by the API server only: it prunes an unknown field or refuses it, and the models ignore it. So an unknown
field never reaches Spark, and an older operator can read what a newer CRD stored."""

BOUNDS = {
    "labels of Pods with a long key",
    "annotations of Pods with a long key",
    "nodeSelector of Pods with a long key",
    "a partition with a long key",
    "more partitions than a run can name",
}
"""Checked by the API server only, to bound the cost of other rules: Kubernetes refuses the Pod, no column is so long,
and the other bounds of a run keep its job within a ConfigMap."""

DEFAULTS_OF_TABLES = {
    "default partitions that are idle for more than 65 years",
    "a default delay of minor of more than 65 years",
    "a default delay of full of more than 65 years",
    "a default age of more than 65 years",
    "a default of fewer snapshots at most than at least",
    "a default of fewer snapshots than Paimon keeps",
    "a default retention of more than 65 years",
    "default orphans that a running write may need",
    "default orphans for more than 65 years",
    *(
        each.name
        for each in REPETITIONS
        if each.field.startswith(("spec.tableDefaults.ret", "spec.tableDefaults.tags"))
    ),
}
"""Checked with each table that has them: a table may have its own block."""

ALL_DEFAULTS_APPLY = keyed_table(
    spec__changelogProducer={"type": "Input"}, spec__schema__columns__6={"name": "at", "type": "BIGINT"}
)
"""A table with partitions, a changelog and records with a time."""

NOT_OF_THE_OBJECT = UNKNOWN_FIELDS | BOUNDS | DEFAULTS_OF_TABLES
CHECKED_BY_BOTH = [wrong for wrong in REFUSED_AT_APPLY if wrong.name not in NOT_OF_THE_OBJECT]


@pytest.mark.parametrize("wrong", CHECKED_BY_BOTH, ids=lambda wrong: wrong.name)
def test_the_operator_refuses_the_field_that_the_crd_refuses(wrong: WrongManifest) -> None:
    fields = fields_blamed(wrong.manifest)
    assert any(is_at_or_below(field, wrong.field) for field in fields), fields


@pytest.mark.parametrize("name", sorted(UNKNOWN_FIELDS))
def test_an_unknown_field_is_not_read(name: str) -> None:
    (wrong,) = (each for each in REFUSED_AT_APPLY if each.name == name)
    read = MODELS[wrong.manifest["kind"]].model_validate(wrong.manifest).to_json()
    *parents, last = wrong.field.split(".")
    for step in parents:
        read = read.get(step, {})
    assert last not in read
    assert fields_blamed(wrong.manifest) == []


@pytest.mark.parametrize("name", sorted(DEFAULTS_OF_TABLES))
def test_a_wrong_default_is_an_error_of_the_tables_that_have_it(name: str) -> None:
    (wrong,) = (each for each in REFUSED_AT_APPLY if each.name == name)
    catalog_ = PaimonCatalog.model_validate(wrong.manifest)
    table = PaimonTable.model_validate(ALL_DEFAULTS_APPLY)
    context = TableContext.build(table, catalog_, builders.operator_facts(), builders.NOW)
    assert wrong.field.replace(".tableDefaults", "") in [error.field for error in broken_rules(context)]


@pytest.mark.parametrize("right", [keyed_table(), append_table(), catalog(), run()], ids=lambda m: m["kind"])
def test_the_operator_accepts_the_manifests_without_the_mistakes(right: Manifest) -> None:
    assert fields_blamed(right) == []


def is_at_or_below(field: str, blamed: str) -> bool:
    """Whether `field` is the blamed field or a part of it; the operator often names the entry of a list."""
    return field == blamed or field.startswith((f"{blamed}.", f"{blamed}["))
