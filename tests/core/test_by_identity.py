"""Results by the identity of an object, and what of superseded objects stays in memory."""

from __future__ import annotations

import gc

from paimon_operator.core.by_identity import ResultOfEach
from paimon_operator.core.validation.catalog import blocking_problems
from tests.support import builders


class Value:
    """Equal to every other one."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value)

    __hash__ = None  # type: ignore[assignment]


def test_a_result_is_made_once_for_each_object_and_not_for_equal_ones() -> None:
    made: list[Value] = []
    results = ResultOfEach[Value, int](lambda value: made.append(value) or len(made))  # type: ignore[func-returns-value]
    one, other = Value(), Value()
    assert [results.of(one), results.of(other), results.of(one)] == [1, 2, 1]


def test_a_result_is_forgotten_with_its_object() -> None:
    results = ResultOfEach[Value, str](lambda _: "made")
    values = [Value() for _ in range(100)]
    assert {results.of(value) for value in values} == {"made"}
    assert len(results) == 100
    values.clear()
    gc.collect()
    assert len(results) == 0


def test_a_new_version_of_a_catalog_does_not_keep_the_old_ones() -> None:
    """Each status of a catalog is a version: an operator that lives long has seen thousands."""
    operator, kind = builders.operator_facts(), type(builders.catalog())

    def versions() -> int:
        gc.collect()
        return sum(type(each) is kind for each in gc.get_objects())

    before = versions()
    for _ in range(50):
        assert blocking_problems(builders.catalog(), operator) == ()
    assert versions() <= before + 1
