"""Names of the PaimonTables of existing tables."""

from __future__ import annotations

import re
from itertools import product

import pytest

from paimon_operator.api.base import LABEL
from paimon_operator.core.export.object_name import object_name


@pytest.mark.parametrize(
    ("database", "table", "expected"),
    [
        ("shop", "orders", "orders"),
        ("shop", "daily_orders", "daily-orders"),
        ("sales", "orders", "sales--orders"),
        ("sales_eu", "orders", "sales-eu--orders"),
    ],
)
def test_a_plain_name_stays_readable(database: str, table: str, expected: str) -> None:
    assert object_name(database, table, "shop") == expected


def test_names_are_labels_of_kubernetes_and_each_table_has_its_own() -> None:
    names = [
        "a",
        "a_b",
        "a-b",
        "a__b",
        "_a",
        "a_",
        "A",
        "A_b",
        "b",
        "b_a",
        "1",
        "größe",
        "___",
        "a" * 48,
        "a" * 49,
        "a" * 128,
    ]
    places = list(product(("shop", "a", "a_b", "b", "Shop", "shop_"), names))
    found = [object_name(database, table, "shop") for database, table in places]
    assert len(set(found)) == len(places)
    assert all(re.fullmatch(LABEL, name) and len(name) <= 48 for name in found)
