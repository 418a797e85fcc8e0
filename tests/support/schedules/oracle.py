"""Compares a table with the model: what pypaimon reads everywhere, and which files exist."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tests.spark.lake import Lake
from tests.support import lake_reader
from tests.support.schedules.model import Model, Rows, plain
from tests.support.schedules.reachable import TableTree

COLUMNS = ("p", "k", "seq", "a", "b")


def differences(lake: Lake, model: Model, tree: TableTree, ask: Callable[..., Any]) -> list[str]:
    """A sentence for each thing that is not as it must be. `ask` asks the JavaTable."""
    missing = tree.missing(frozenset(model.damaged))
    existing = set(tree.snapshots())
    lost = [f"snapshot {each} does not exist" for each in sorted(set(model.snapshots) - existing)]
    lost += [f"consumer {each} does not exist" for each in sorted(set(model.consumers) - tree.consumers())]
    if model.kind.changelogs:
        needed = set(range(model.first_changelog, max(existing) + 1))
        lost += [f"changelog {each} does not exist" for each in sorted(needed - existing - tree.changelogs())]
    if missing or lost:  # what cannot be read says less
        return missing + lost
    if model.kind.needs_java:
        expected = _expected(model)
        found = _read_by_java(ask, expected)
    else:
        expected = _expected(model) | _expected_in_branches(model)
        found = _read_by_pypaimon(lake, expected)
    return [*_reappeared(model, found[0])] + [
        difference
        for (where, rows), read in zip(expected.items(), found, strict=True)
        if (difference := _difference(where, model.must_be(rows), model.must_be(read))) is not None
    ]


def _reappeared(model: Model, head: Rows) -> Iterator[str]:
    """Records at the head that have expired and are not from any write."""
    for row in head:
        if not model.is_kept(row[3]) and row[:2] not in model.expirable:
            yield f"orders has {row}, which has expired and was removed"


def _expected(model: Model) -> dict[str, Rows]:
    """The table as pypaimon names it, with the place after `@` -> its rows."""
    found = {"orders": model.rows()}
    found |= {f"orders@scan.snapshot-id={id_}": rows for id_, rows in model.snapshots.items()}
    return found | {f"orders@scan.tag-name={name}": rows for name, rows in model.tags.items()}


def _expected_in_branches(model: Model) -> dict[str, Rows]:
    return {f"orders$branch_{name}": rows for name, rows in model.branches.items()}


def _read_by_pypaimon(lake: Lake, places: Iterable[str]) -> list[Rows]:
    found = lake_reader.read_many(lake.warehouse, lake.database, list(places))
    return [plain(tuple(row[name] for name in COLUMNS) for row in rows) for rows in found]


def _read_by_java(ask: Callable[..., Any], places: Iterable[str]) -> list[Rows]:
    scans = [(option, value) for option, _, value in (each.partition("@")[2].partition("=") for each in places)]
    return [plain(tuple(row) for row in rows) for rows in ask("read", places=scans)]


def _difference(where: str, expected: Rows, found: Rows) -> str | None:
    if found == expected:
        return None
    lost = [each for each in expected if each not in found]
    more = [each for each in found if each not in expected]
    return f"{where} has {len(found)} rows, expected {len(expected)}; lost {lost}; unexpected {more}"
