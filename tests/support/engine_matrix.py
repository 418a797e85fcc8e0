"""The engines of a test: all of them, or the newest alone when the result does not differ by engine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Final

import pytest

from paimon_engines.loader import load_engine, supported_engines
from tests.support.time_limit import MARKER as LONG

WHOLE_MATRIX: Final = "--whole-matrix"
"""Option of pytest: every test runs with every engine that can run it."""

IN_TURN: Final = "engines_in_turn"
"""Marker with the name of a parameter: each of its values runs with one engine, and the engines take turns."""

SOME_ROWS: Final = "some_rows"
"""Marker with a number: `make test` runs so many of the test's rows, `make test-long` runs all of them."""

NO_ENGINE: Final = "no-engine"
"""In the place of an engine where none supports the metastore. pytest refuses a test without parameters."""


def engines_for(
    ready: Sequence[str],
    metastore: str,
    *,
    newest_only: bool,
    needs_older: bool = False,
    capability: str | None = None,
) -> list[str]:
    """Engines of `ready` (oldest first) that support the metastore; with `newest_only` the last of them.

    With `needs_older` only those beside which an older one can be had; with `capability`, an attribute of an engine's
    data, only those that have it.
    The result is NO_ENGINE where there is none. `remove_without_engine` removes that test.
    """
    considered = ready[1:] if needs_older else ready
    able = [name for name in considered if metastore in supported_engines()[name].metastores]
    able = [name for name in able if capability is None or getattr(load_engine(name), capability)]
    return (able[-1:] if newest_only else able) or [NO_ENGINE]


def newest_engine(items: Sequence[pytest.Item]) -> str:
    """The newest engine with which any of the tests runs."""
    used = {_named_parameters(item).get("engine_id") for item in items}
    return [name for name in supported_engines() if name in used][-1]


def remove_without_engine(items: list[pytest.Item]) -> None:
    """Removes the tests that no available engine can run."""
    items[:] = [item for item in items if NO_ENGINE not in _parameters(item)]


def remove_repeated_engines(items: list[pytest.Item], engine: str) -> None:
    """Of tests with the marker IN_TURN, keeps pairs in which each value of its parameter and each engine occurs.

    What the parameter varies hardly depends on the engine, so not every combination is needed.
    """
    combined: dict[tuple[str, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        marker = item.get_closest_marker(IN_TURN)
        if marker is not None and engine in _named_parameters(item):
            combined[item.nodeid.partition("[")[0], marker.args[0]].append(item)
    repeated = {id(item) for (_, name), tests in combined.items() for item in _repeated(tests, name, engine)}
    items[:] = [item for item in items if id(item) not in repeated]


def remove_older_engines(items: list[pytest.Item], engine: str) -> None:
    """Of the tests of a module that run with several engines, the first one keeps all of them, the others the newest.

    So each module runs with each engine, in a session without the tests that are `long`. The steps of a class count as
    one test. The engines of a test are in order, the newest last.
    """
    modules: dict[str, dict[str, list[pytest.Item]]] = defaultdict(lambda: defaultdict(list))
    for item in sorted(items, key=lambda each: each.get_closest_marker(LONG) is not None):
        if engine not in _named_parameters(item):
            continue
        modules[item.nodeid.partition("::")[0]][_any_engine(item, engine)].append(item)
    removed = {
        id(item)
        for tests in modules.values()
        for of_one in [each for each in tests.values() if len(_engines(each, engine)) > 1][1:]
        for item in of_one
        if _engines([item], engine) != _engines(of_one, engine)[-1:]
    }
    items[:] = [item for item in items if id(item) not in removed]


def remove_rows(items: list[pytest.Item], engine: str) -> None:
    """Of tests with the marker SOME_ROWS, keeps so many rows as it says, evenly spread, the last one among them.

    A row is a test with its parameters but the engine.
    """
    rows: dict[str, list[str]] = defaultdict(list)
    numbers: dict[str, int] = {}
    for item in items:
        if marker := item.get_closest_marker(SOME_ROWS):
            test = item.nodeid.partition("[")[0]
            rows[test].append(_any_engine(item, engine))
            numbers[test] = marker.args[0]
    kept = {row for test, of_one in rows.items() for row in evenly(list(dict.fromkeys(of_one)), numbers[test])}
    items[:] = [each for each in items if not each.get_closest_marker(SOME_ROWS) or _any_engine(each, engine) in kept]


def evenly(rows: Sequence[str], number: int) -> list[str]:
    """Returns `number` of the rows in equal distances, the last one among them; all where there are not more."""
    if len(rows) <= number:
        return list(rows)
    return [rows[(n + 1) * len(rows) // number - 1] for n in range(number)]


def _any_engine(item: pytest.Item, engine: str) -> str:
    """The class or the test with its other parameters."""
    if getattr(item, "cls", None) is not None:
        return item.nodeid.rpartition("::")[0]
    others = {name: value for name, value in _named_parameters(item).items() if name != engine}
    return f"{item.nodeid.partition('[')[0]} {others}"


def _engines(items: Sequence[pytest.Item], engine: str) -> list[object]:
    return list(dict.fromkeys(_named_parameters(item)[engine] for item in items))


def _repeated(tests: Sequence[pytest.Item], parameter: str, engine: str) -> list[pytest.Item]:
    parameters = map(_named_parameters, tests)
    found = [(repr(each[parameter]), each[engine]) for each in parameters]
    kept = set(pairs(list(dict.fromkeys(p for p, _ in found)), list(dict.fromkeys(e for _, e in found))))
    return [test for test, pair in zip(tests, found, strict=True) if pair not in kept]


def pairs(values: Sequence[object], engines: Sequence[object]) -> list[tuple[object, object]]:
    """Pairs of a value and an engine: the longer list once, the shorter one repeated."""
    many = max(len(values), len(engines))
    return [(values[n % len(values)], engines[n % len(engines)]) for n in range(many)]


def _named_parameters(item: pytest.Item) -> Mapping[str, object]:
    return getattr(getattr(item, "callspec", None), "params", {})


def _parameters(item: pytest.Item) -> Collection[object]:
    return _named_parameters(item).values()
