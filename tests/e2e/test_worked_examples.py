"""Paimon's worked examples, from `kubectl apply` to rows that pypaimon reads."""

from __future__ import annotations

import pytest

from tests.e2e.lab import Lab, committed, once
from tests.support.kubectl import Object

pytestmark = pytest.mark.long


def loaded(lab: Lab, table: str, writes: int) -> None:
    def all_committed(obj: Object | None) -> bool:
        return len(committed(obj)) == writes

    lab.kubectl.until("paimontable", table, all_committed, what=f"{writes} writes committed")


def test_deduplicate_keeps_the_last_row(lab: Lab) -> None:
    lab.land("d/1.json", [{"id": 1, "v": "first"}, {"id": 2, "v": "only"}])
    lab.land("d/2.json", [{"id": 1, "v": "last"}])
    table = lab.table("dedup", {"id": "BIGINT", "v": "STRING"}, keys=["id"])
    table["spec"]["writes"] = [once("one", "d/1.json"), once("two", "d/2.json")]
    lab.kubectl.apply(table)

    loaded(lab, "dedup", 2)

    assert lab.rows("dedup") == [{"id": 1, "v": "last"}, {"id": 2, "v": "only"}]


def test_partial_update_fills_a_row_from_three_writes(lab: Lab) -> None:
    lab.land("p/1.json", [{"k": 1, "price": 23.0, "qty": 10}])
    lab.land("p/2.json", [{"k": 1, "note": "This is a book"}])
    lab.land("p/3.json", [{"k": 1, "price": 25.2}])
    columns = {"k": "BIGINT", "price": "DOUBLE", "qty": "INT", "note": "STRING"}
    table = lab.table("partial", columns, keys=["k"], mergeEngine={"type": "PartialUpdate"})
    table["spec"]["writes"] = [once(f"w{n}", f"p/{n}.json") for n in (1, 2, 3)]
    lab.kubectl.apply(table)

    loaded(lab, "partial", 3)

    assert lab.rows("partial") == [{"k": 1, "price": 25.2, "qty": 10, "note": "This is a book"}]


def test_aggregation_takes_maximum_and_sum(lab: Lab) -> None:
    lab.land("a/1.json", [{"k": 1, "price": 23.0, "sales": 15}])
    lab.land("a/2.json", [{"k": 1, "price": 30.2, "sales": 20}])
    columns = {
        "k": "BIGINT",
        "price": {"type": "DOUBLE", "aggregate": {"function": "max"}},
        "sales": {"type": "BIGINT", "aggregate": {"function": "sum"}},
    }
    table = lab.table("aggregated", columns, keys=["k"], mergeEngine={"type": "Aggregation"})
    table["spec"]["writes"] = [once(f"w{n}", f"a/{n}.json") for n in (1, 2)]
    lab.kubectl.apply(table)

    loaded(lab, "aggregated", 2)

    assert lab.rows("aggregated") == [{"k": 1, "price": 30.2, "sales": 35}]
