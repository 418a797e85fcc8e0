"""Drift: what somebody else has changed in a table, as the difference of two of its schemas."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from paimon_schema.data_types import NOT_NULL
from paimon_schema.members import Identity, Member, members_of
from paimon_schema.option_changes import ASSIGNED_BY_PAIMON, OUR_PREFIX, OWNER_OPTION, OptionRules
from paimon_schema.table_schema import TableSchema
from paimon_schema.uses import OF_FIELDS, columns_of_option

NEVER_NULL, NULLABLE = NOT_NULL.strip(), "NULL allowed"
NAMES: Final = ", "
"""Between the names in the value of a change."""
MAX_VALUE_BYTES: Final = 96
"""UTF-8 bytes of a value in a result."""
HASH_BYTES: Final = 12
_SHORTENED: Final = re.compile("…#[0-9a-f]{8}$")


class DriftKind(StrEnum):
    """Kind of a change."""

    TABLE_REPLACED = "TableReplaced"
    OWNER_CHANGED = "OwnerChanged"
    PRIMARY_KEY_CHANGED = "PrimaryKeyChanged"
    PARTITION_KEYS_CHANGED = "PartitionKeysChanged"
    COLUMN_DROPPED = "ColumnDropped"
    COLUMN_RENAMED = "ColumnRenamed"
    TYPE_CHANGED = "TypeChanged"
    NULLABILITY_CHANGED = "NullabilityChanged"
    COLUMN_ADDED = "ColumnAdded"
    COLUMNS_REORDERED = "ColumnsReordered"
    DEFAULT_CHANGED = "DefaultChanged"
    OPTION_CHANGED = "OptionChanged"
    COLUMN_COMMENT_CHANGED = "ColumnCommentChanged"
    TABLE_COMMENT_CHANGED = "TableCommentChanged"


OF_THE_TABLE: Final = frozenset(
    {
        DriftKind.TABLE_REPLACED,
        DriftKind.OWNER_CHANGED,
        DriftKind.PRIMARY_KEY_CHANGED,
        DriftKind.PARTITION_KEYS_CHANGED,
        DriftKind.TABLE_COMMENT_CHANGED,
        DriftKind.OPTION_CHANGED,
    }
)
"""Kinds whose field is no column: it is an option, or the table itself."""


@dataclass(frozen=True, kw_only=True)
class DriftChange:
    """One change. `field` is an option, or the path of a column or nested field, by its name before the change.

    It is empty for the table itself. An added column has its present name. `before` and `after` are None where there
    was, or is, nothing. `is_sure` is False where `before` may be somebody else's value already.
    """

    kind: DriftKind
    field: str = ""
    before: str | None = None
    after: str | None = None
    is_sure: bool = True

    @property
    def key(self) -> tuple[DriftKind, str]:
        """What changes: there is one change for each."""
        return self.kind, self.field

    @property
    def column(self) -> str:
        """The column of a change that concerns one; empty for any other."""
        return "" if self.kind in OF_THE_TABLE else self.field.partition(".")[0]


def difference(before: TableSchema, after: TableSchema, rules: OptionRules) -> tuple[DriftChange, ...]:
    """What turned `before` into `after`, the gravest kinds first. Both are of one table."""
    had, has = members_of(before), members_of(after)
    names = _new_names(had, has)
    return ordered([*_keys(before, after, names), *_columns(had, has), *_of_table(before, after, names, rules)])


def ordered(changes: list[DriftChange]) -> tuple[DriftChange, ...]:
    """The changes in the order of their kinds, and by field."""
    places = {kind: place for place, kind in enumerate(DriftKind)}
    return tuple(sorted(changes, key=lambda each: (places[each.kind], each.field)))


def shortened(text: str | None) -> str | None:
    """The text as results and statuses hold it: a long one ends with a hash, so that equal texts stay equal."""
    if text is None or len(text.encode()) <= MAX_VALUE_BYTES:
        return text
    start = text.encode()[: MAX_VALUE_BYTES - HASH_BYTES].decode(errors="ignore")
    return f"{start}…#{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def is_shortened(text: str | None) -> bool:
    """Whether a text of a status is only the beginning of a value."""
    return text is not None and _SHORTENED.search(text) is not None


def _keys(before: TableSchema, after: TableSchema, names: Mapping[str, str]) -> Iterator[DriftChange]:
    for kind, had, has in (
        (DriftKind.PRIMARY_KEY_CHANGED, before.primary_keys, after.primary_keys),
        (DriftKind.PARTITION_KEYS_CHANGED, before.partition_keys, after.partition_keys),
    ):
        if tuple(names.get(name, name) for name in had) != has:
            yield DriftChange(kind=kind, before=_listed(had), after=_listed(has))


def _columns(had: Mapping[Identity, Member], has: Mapping[Identity, Member]) -> Iterator[DriftChange]:
    for identity, member in had.items():
        if identity in has:
            yield from _member(member, has[identity])
        elif _parent_stays(identity, had, has):
            yield DriftChange(kind=DriftKind.COLUMN_DROPPED, field=member.name, before=str(member.type))
    for identity, member in has.items():
        if identity not in had and _parent_stays(identity, had, has):
            yield DriftChange(kind=DriftKind.COLUMN_ADDED, field=member.name, after=str(member.type))
    yield from _orders(had, has)


def _parent_stays(identity: Identity, had: Mapping[Identity, Member], has: Mapping[Identity, Member]) -> bool:
    """Whether what contains the member is of the same type before and after: otherwise that one has changed."""
    parent = identity[:-1]
    return not parent or (parent in had and parent in has and had[parent].type.name == has[parent].type.name)


def _member(had: Member, has: Member) -> Iterator[DriftChange]:
    name = had.name
    if had.path[-1] != has.path[-1]:
        yield DriftChange(kind=DriftKind.COLUMN_RENAMED, field=name, before=name, after=has.name)
    if (had.type.name, had.type.args) != (has.type.name, has.type.args):
        yield DriftChange(kind=DriftKind.TYPE_CHANGED, field=name, before=had.plain_type, after=has.plain_type)
    pairs = (
        (DriftKind.NULLABILITY_CHANGED, _nullability(had), _nullability(has)),
        (DriftKind.DEFAULT_CHANGED, had.default, has.default),
        (DriftKind.COLUMN_COMMENT_CHANGED, had.comment, has.comment),
    )
    yield from (DriftChange(kind=kind, field=name, before=old, after=new) for kind, old, new in pairs if old != new)


def _nullability(of: Member) -> str:
    return NULLABLE if of.type.nullable else NEVER_NULL


def _orders(had: Mapping[Identity, Member], has: Mapping[Identity, Member]) -> Iterator[DriftChange]:
    """The columns, or the fields of a ROW, that are in another order. Those added and dropped do not count."""
    old_orders, new_orders = _by_parent(had, has), _by_parent(has, had)
    for parent, old in old_orders.items():
        new = new_orders[parent]
        if old != new:
            names = [_listed(tuple(of[each].path[-1] for each in order)) for of, order in ((had, old), (has, new))]
            field = had[parent].name if parent else ""
            yield DriftChange(kind=DriftKind.COLUMNS_REORDERED, field=field, before=names[0], after=names[1])


def _by_parent(of: Mapping[Identity, Member], other: Mapping[Identity, Member]) -> dict[Identity, list[Identity]]:
    """The members that both have, in the order of the first, by what contains them."""
    found: dict[Identity, list[Identity]] = {}
    for identity in of:
        if identity in other:
            found.setdefault(identity[:-1], []).append(identity)
    return found


def _of_table(
    before: TableSchema, after: TableSchema, names: Mapping[str, str], rules: OptionRules
) -> Iterator[DriftChange]:
    if before.comment != after.comment:
        yield DriftChange(kind=DriftKind.TABLE_COMMENT_CHANGED, before=before.comment, after=after.comment)
    has = rules.canonical(after.options)
    # Older releases of Paimon leave the options of a renamed column as they are.
    options = rules.canonical(before.options).items()
    had = {key if key in has else _renamed(key, names): value for key, value in options}
    for option in sorted(had.keys() | has.keys()):
        old, new = had.get(option), has.get(option)
        if option == OWNER_OPTION and old != new:
            yield DriftChange(kind=DriftKind.OWNER_CHANGED, before=old, after=new)
        elif is_others(option) and not rules.means_the_same(option, old, new):
            yield DriftChange(kind=DriftKind.OPTION_CHANGED, field=option, before=old, after=new)


def is_others(option: str) -> bool:
    """Whether the option is neither a mark of the operator nor assigned by Paimon."""
    return option not in ASSIGNED_BY_PAIMON and not option.startswith(OUR_PREFIX)


def _new_names(had: Mapping[Identity, Member], has: Mapping[Identity, Member]) -> dict[str, str]:
    """Name before -> name after, of each column that was renamed: Paimon renames it in its keys and options too."""
    columns = [identity for identity in had if len(identity) == 1 and identity in has]
    return {had[each].name: has[each].name for each in columns if had[each].name != has[each].name}


def _renamed(option: str, names: Mapping[str, str]) -> str:
    columns = columns_of_option(option)
    if not names.keys() & set(columns):
        return option
    return f"{OF_FIELDS}{','.join(names.get(each, each) for each in columns)}.{option.rpartition('.')[2]}"


def _listed(names: tuple[str, ...]) -> str:
    return NAMES.join(names) or "none"
