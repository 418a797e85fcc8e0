"""Two drifts, one after the other, as one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from paimon_schema.data_types import NOT_NULL
from paimon_schema.drift import NEVER_NULL, OF_THE_TABLE, DriftChange, DriftKind, ordered, shortened
from paimon_schema.drift_orders import Orders


def compose(known: Iterable[DriftChange], found: Iterable[DriftChange]) -> tuple[DriftChange, ...]:
    """What turned the first schema into the third: `known` led to the second, and `found` from there to the third.

    a -> b and then b -> c is a -> c. What is back at its first value is no change.
    """
    return _Composition(tuple(known)).with_all(tuple(found))


@dataclass(frozen=True)
class _Composition:
    known: tuple[DriftChange, ...]

    def with_all(self, all_found: tuple[DriftChange, ...]) -> tuple[DriftChange, ...]:
        orders = Orders(self.known, all_found, self._first_name).changes
        found = tuple(each for each in all_found if each.kind is not DriftKind.COLUMNS_REORDERED)
        changes = {each.key: each for each in self.known if each.kind is not DriftKind.COLUMN_ADDED}
        added = {each.field: each for each in self.known if each.kind is DriftKind.COLUMN_ADDED}
        new = [each for each in found if each.kind is DriftKind.COLUMN_ADDED]
        for change in found:
            if change.kind not in OF_THE_TABLE and change.field in added:
                if change.kind is not DriftKind.COLUMN_ADDED:
                    added[change.field] = _added_after(added[change.field], change)
            elif change.kind is not DriftKind.COLUMN_ADDED:
                self._apply(changes, change)
        changes = {key: each for key, each in changes.items() if each.kind is not DriftKind.COLUMNS_REORDERED}
        present = [each for each in added.values() if each.after is not None]
        return ordered([*changes.values(), *orders, *present, *new])

    @cached_property
    def _first_names(self) -> dict[str, str]:
        """Name in the second schema -> name in the first, of each column and field that was renamed."""
        renamed = (each for each in self.known if each.kind is DriftKind.COLUMN_RENAMED)
        return {each.after or "": each.field for each in renamed}

    def _apply(self, changes: dict[tuple[DriftKind, str], DriftChange], change: DriftChange) -> None:
        if change.kind not in OF_THE_TABLE:
            change = replace(change, field=self._first_name(change.field))
        if change.kind is DriftKind.COLUMN_DROPPED:
            change = _dropped(changes, change)
        before = changes.pop(change.key, None)
        first = before.before if before is not None else change.before
        if shortened(first) != shortened(change.after):
            changes[change.key] = replace(change, before=first)

    def _first_name(self, field: str) -> str:
        """The name of a column or field in the first schema; its parents may have been renamed as well."""
        parts = field.split(".")
        for length in range(len(parts), 0, -1):
            start = ".".join(parts[:length])
            if start in self._first_names:
                return ".".join((self._first_names[start], *parts[length:]))
        return field


def _added_after(added: DriftChange, change: DriftChange) -> DriftChange:
    """A column that the known drift has added is only added, with what it is now; `after` is None once it is gone."""
    match change.kind:
        case DriftKind.COLUMN_RENAMED:
            return replace(added, field=change.after or "")
        case DriftKind.TYPE_CHANGED:
            return replace(added, after=_typed(added, change.after or ""))
        case DriftKind.NULLABILITY_CHANGED:
            type_ = (added.after or "").removesuffix(NOT_NULL)
            return replace(added, after=type_ + (NOT_NULL if change.after == NEVER_NULL else ""))
        case DriftKind.COLUMN_DROPPED:
            return replace(added, after=None)
    return added


def _typed(added: DriftChange, type_: str) -> str:
    return type_ + (NOT_NULL if (added.after or "").endswith(NOT_NULL) else "")


def _dropped(changes: dict[tuple[DriftKind, str], DriftChange], drop: DriftChange) -> DriftChange:
    """The drop of a column, with its first type, in place of all changes of it and of its fields."""
    typed = changes.get((DriftKind.TYPE_CHANGED, drop.field))
    allows = changes.get((DriftKind.NULLABILITY_CHANGED, drop.field))
    inside = f"{drop.field}."
    for key, each in list(changes.items()):
        of_column = each.kind not in OF_THE_TABLE
        if of_column and (each.field == drop.field or each.field.startswith(inside)):
            del changes[key]
    last = drop.before or ""
    never_null = last.endswith(NOT_NULL) if allows is None else allows.before == NEVER_NULL
    plain = last.removesuffix(NOT_NULL) if typed is None else typed.before or ""
    return replace(drop, before=plain + (NOT_NULL if never_null else ""))
