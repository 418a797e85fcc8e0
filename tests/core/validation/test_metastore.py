"""The rules of a Hive metastore for names. Other metastores have none."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.core.validation.catalog import catalog_problems
from paimon_operator.core.validation.metastore import names_of
from tests.support import builders

HIVE: dict[str, Any] = {"metastore": {"type": "Hive", "hive": {"uri": "thrift://hms:9083"}}}
UPPER = {"columns": [{"name": "Id", "type": "BIGINT"}, {"name": "v", "type": "STRING"}]}


def blamed(catalog: dict[str, Any], **spec: Any) -> list[str]:
    context = builders.context(builders.table(**spec), builders.catalog(**catalog))
    return [error.field for error in names_of(context)]


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"database": "Shop"}, "spec.database"),
        ({"database": "my-shop"}, "spec.database"),
        ({"table": "Orders"}, "spec.table"),
        ({"table": "my-orders"}, "spec.table"),
        ({"schema": UPPER}, "spec.schema.columns[Id].name"),
    ],
)
def test_names_that_hive_changes_are_refused_for_a_hive_metastore_only(spec: dict[str, Any], field: str) -> None:
    assert blamed(HIVE, **spec) == [field]
    assert blamed({}, **spec) == []


def test_usual_names_are_valid_for_hive() -> None:
    assert blamed(HIVE) == []
    assert blamed(HIVE, database="shop_2", table="_orders") == []


@pytest.mark.parametrize(
    ("namespace", "databases", "right"),
    [("shop", (), True), ("my-shop", (), False), ("my-shop", ("my_shop",), True)],
)
def test_a_catalog_whose_only_database_hive_does_not_accept_is_refused(
    namespace: str, databases: tuple[str, ...], right: bool
) -> None:
    catalog = builders.catalog("lake", namespace, allowedDatabases=databases or None, **HIVE)
    problems = list(catalog_problems(catalog, builders.operator_facts()))
    assert [problem.field for problem in problems] == ([] if right else ["spec.allowedDatabases"])
