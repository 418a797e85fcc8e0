"""The order of columns after two drifts, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from paimon_schema.drift import NAMES, DriftChange, DriftKind, is_shortened, shortened


@dataclass(frozen=True)
class Orders:
    """`known` led from the first schema to the second, `found` from there to the third.

    `first_name` is the path of a member in the first schema, by that in the second.
    """

    known: tuple[DriftChange, ...]
    found: tuple[DriftChange, ...]
    first_name: Callable[[str], str]

    @property
    def changes(self) -> Iterator[DriftChange]:
        """The columns, or the fields of a ROW, that are in another order in the third schema than in the first."""
        kind, gone = DriftKind.COLUMNS_REORDERED, self._added | self._dropped
        known = {each.field: each for each in self.known if each.kind is kind}
        found = {self.first_name(each.field): each for each in self.found if each.kind is kind}
        lost = {self.first_name(each) for each in gone}
        for parent in [*known, *(each for each in found if each not in known)]:
            if not any(parent == each or parent.startswith(f"{each}.") for each in lost):
                yield from self._both(parent, known.get(parent), found.get(parent))

    def _both(self, parent: str, known: DriftChange | None, found: DriftChange | None) -> Iterator[DriftChange]:
        given = [each for each in (known, found) if each is not None]
        first, last = given[0], given[-1]
        if any(is_shortened(text) for each in given for text in (each.before, each.after)):
            if shortened(first.before) != shortened(last.after):
                yield replace(last, field=parent, before=first.before)
            return
        second = last.field if found is not None else self._second_name(parent)
        in_second = [self._before(second, name, self._new_names) if found else name for name in _names(last.after)]
        stay = self._in_all(second, in_second)
        has = [self._first(second, name) for name in stay]
        # A column that was added may have the former name of another one.
        in_first = [self._first(second, name) for name in self._in_all(second, _names(first.before))]
        had = [each for each in (_names(first.before) if known else in_first) if each in has]
        if had != has:
            after = [_last(self._new_names.get(_path(second, name), name)) for name in stay]
            yield replace(last, field=parent, before=NAMES.join(had), after=NAMES.join(after))

    def _in_all(self, second: str, names: list[str]) -> list[str]:
        """Of members in the second schema, those that are in the other two as well."""
        return [name for name in names if _path(second, name) not in self._added | self._dropped]

    @cached_property
    def _added(self) -> frozenset[str]:
        return frozenset(each.field for each in self.known if each.kind is DriftKind.COLUMN_ADDED)

    @cached_property
    def _dropped(self) -> frozenset[str]:
        return frozenset(each.field for each in self.found if each.kind is DriftKind.COLUMN_DROPPED)

    @cached_property
    def _new_names(self) -> dict[str, str]:
        """Path in the second schema -> path in the third, of what was renamed in between."""
        renamed = (each for each in self.found if each.kind is DriftKind.COLUMN_RENAMED)
        return {each.field: each.after or "" for each in renamed}

    def _first(self, parent: str, name: str) -> str:
        return _last(self.first_name(_path(parent, name)))

    def _second_name(self, field: str) -> str:
        renamed = {each.field: each.after for each in self.known if each.kind is DriftKind.COLUMN_RENAMED}
        return renamed.get(field) or field

    @staticmethod
    def _before(parent: str, name: str, new_names: dict[str, str]) -> str:
        """The name in the second schema of what has this name in the third."""
        old = (each for each, new in new_names.items() if each.rpartition(".")[0] == parent and _last(new) == name)
        return _last(next(old, name))


def _names(text: str | None) -> list[str]:
    return (text or "").split(NAMES)


def _path(parent: str, name: str) -> str:
    return f"{parent}.{name}" if parent else name


def _last(path: str) -> str:
    return path.rpartition(".")[2]
