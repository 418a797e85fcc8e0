"""CEL rules over more than one field of a PaimonTable. Rules about types and engines are in `core/validation`."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.base import not_larger, rule
from paimon_operator.api.table.retention_rules import RETENTION_RULES
from paimon_operator.api.table.setting_rules import SETTING_RULES
from paimon_operator.api.table.sort_rules import SORT_RULES
from paimon_operator.api.table.verify_rules import VERIFY_RULES

_FORBIDDEN = "FieldValueForbidden"
_REQUIRED = "FieldValueRequired"
_KEYED = "has(self.schema.primaryKeys)"
_NAMES = "self.schema.columns.map(c, c.name)"
_AGGREGATED = "self.schema.columns.filter(c, has(c.aggregate)).map(c, c.name)"
_GROUPS = "has(self.mergeEngine.partialUpdate) && has(self.mergeEngine.partialUpdate.sequenceGroups)"
_FIXED_KEYS = "has(self.bucket) && has(self.bucket.fixed) && has(self.bucket.fixed.keys)"

_IDENTITY: Final = [
    rule(
        "self.catalogRef == oldSelf.catalogRef",
        "catalogRef must not change: create another PaimonTable",
        path=".catalogRef",
        reason=_FORBIDDEN,
    ),
    rule(
        "self.database == oldSelf.database",
        "database must not change: create another PaimonTable",
        path=".database",
        reason=_FORBIDDEN,
    ),
    rule(
        "has(self.table) == has(oldSelf.table) && (!has(self.table) || self.table == oldSelf.table)",
        "table must not change: create another PaimonTable",
        path=".table",
        reason=_FORBIDDEN,
    ),
]

_BUCKETS: Final = [
    rule(
        f"!has(self.bucket) || self.bucket.type != 'Dynamic' || {_KEYED}",
        "bucket.type Dynamic needs primaryKeys: use Unaware or Fixed",
        path=".bucket.type",
    ),
    rule(
        f"!has(self.bucket) || self.bucket.type != 'Unaware' || !{_KEYED}",
        "bucket.type Unaware must not be used with primaryKeys: use Dynamic or Fixed",
        path=".bucket.type",
    ),
    rule(
        f"!has(self.bucket) || self.bucket.type != 'Fixed' || {_KEYED} || has(self.bucket.fixed.keys)",
        "bucket.fixed.keys must be set on a table without primaryKeys",
        path=".bucket.fixed",
        reason=_REQUIRED,
    ),
    rule(
        f"!({_FIXED_KEYS}) || sets.contains({_NAMES}, self.bucket.fixed.keys)",
        "every bucket key must be one of the columns",
        path=".bucket.fixed.keys",
    ),
    rule(
        f"!({_FIXED_KEYS}) || !{_KEYED} || sets.contains(self.schema.primaryKeys, self.bucket.fixed.keys)",
        "every bucket key must be one of the primaryKeys",
        path=".bucket.fixed.keys",
    ),
    rule(
        f"!({_FIXED_KEYS}) || !has(self.schema.partitionKeys)"
        " || !sets.intersects(self.schema.partitionKeys, self.bucket.fixed.keys)",
        "a partition key must not be a bucket key: it is the same for all rows of a partition",
        path=".bucket.fixed.keys",
    ),
    rule(
        "self.externalWriters != 'Active' || !(has(self.bucket) && has(self.bucket.fixed)"
        " && has(self.bucket.fixed.onCountChange)) || self.bucket.fixed.onCountChange != 'Rescale'",
        "onCountChange Rescale must not be set with externalWriters Active: a rescale would lose their rows",
        path=".bucket.fixed.onCountChange",
        reason=_FORBIDDEN,
    ),
    rule(
        f"self.externalWriters != 'Active' || !{_KEYED} || (has(self.bucket) && self.bucket.type == 'Fixed')",
        "with externalWriters Active a table with primaryKeys needs bucket.type Fixed: others allow one writer",
        path=".externalWriters",
    ),
]

_MERGING: Final = [
    rule(
        f"!has(self.mergeEngine) || {_KEYED}",
        "mergeEngine must not be set without primaryKeys",
        path=".mergeEngine",
        reason=_FORBIDDEN,
    ),
    rule(
        f"!has(self.sequence) || {_KEYED}",
        "sequence must not be set without primaryKeys",
        path=".sequence",
        reason=_FORBIDDEN,
    ),
    rule(
        f"!has(self.changelogProducer) || self.changelogProducer.type == 'None' || {_KEYED}",
        "changelogProducer must be None without primaryKeys",
        path=".changelogProducer.type",
    ),
    rule(
        "(has(self.mergeEngine) && self.mergeEngine.type in ['Aggregation', 'PartialUpdate'])"
        " || !self.schema.columns.exists(c, has(c.aggregate))",
        "aggregate must not be set on a column unless mergeEngine.type is Aggregation or PartialUpdate:"
        " Paimon ignores it silently",
        path=".schema.columns",
        reason=_FORBIDDEN,
    ),
    rule(
        f"!{_KEYED} || !sets.intersects(self.schema.primaryKeys, {_AGGREGATED})",
        "aggregate must not be set on a primary key",
        path=".schema.columns",
        reason=_FORBIDDEN,
    ),
    rule(
        "!has(self.mergeEngine) || self.mergeEngine.type != 'FirstRow' || !has(self.sequence)",
        "sequence must not be set with mergeEngine.type FirstRow",
        path=".sequence",
        reason=_FORBIDDEN,
    ),
    rule(
        "!has(self.mergeEngine) || self.mergeEngine.type != 'FirstRow' || !has(self.changelogProducer)"
        " || self.changelogProducer.type in ['None', 'Lookup']",
        "with mergeEngine.type FirstRow changelogProducer must be None or Lookup",
        path=".changelogProducer.type",
    ),
    rule(
        f"!has(self.sequence) || sets.contains({_NAMES}, self.sequence.fields)",
        "every sequence field must be one of the columns",
        path=".sequence.fields",
    ),
    rule(
        f"!has(self.sequence) || !sets.intersects(self.sequence.fields, {_AGGREGATED})",
        "a sequence field must not have an aggregate",
        path=".sequence.fields",
    ),
    rule(
        f"!has(self.sequence) || !has(self.mergeEngine) || !({_GROUPS})",
        "sequence must not be set with sequence groups: they have sequenceFields of their own",
        path=".sequence",
        reason=_FORBIDDEN,
    ),
    # Two rules, because one over both lists exceeds the run-time cost of a single rule on the widest table.
    rule(
        f"!has(self.mergeEngine) || !({_GROUPS})"
        f" || self.mergeEngine.partialUpdate.sequenceGroups.all(g, sets.contains({_NAMES}, g.columns))",
        "every column of a sequence group must be one of the columns",
        path=".mergeEngine.partialUpdate.sequenceGroups",
    ),
    rule(
        f"!has(self.mergeEngine) || !({_GROUPS})"
        f" || self.mergeEngine.partialUpdate.sequenceGroups.all(g, sets.contains({_NAMES}, g.sequenceFields))",
        "every sequence field of a sequence group must be one of the columns",
        path=".mergeEngine.partialUpdate.sequenceGroups",
    ),
    rule(
        f"!has(self.mergeEngine) || !({_GROUPS}) || !{_KEYED}"
        " || self.mergeEngine.partialUpdate.sequenceGroups.all(g,"
        " !sets.intersects(self.schema.primaryKeys, g.columns))",
        "a primary key must not be in a sequence group",
        path=".mergeEngine.partialUpdate.sequenceGroups",
    ),
]

_WORK: Final = [
    rule(
        "!has(self.compaction) || !has(self.compaction.partitionIdleTime) || has(self.schema.partitionKeys)",
        "compaction.partitionIdleTime must not be set without partitionKeys",
        path=".compaction.partitionIdleTime",
        reason=_FORBIDDEN,
    ),
    rule(
        f"!has(self.writes) || {_KEYED} || self.writes.all(w, w.mode != 'Upsert')",
        "a write with mode Upsert needs primaryKeys: use Append",
        path=".writes",
    ),
    rule(
        f"!has(self.writes) || !{_KEYED} || self.writes.all(w, w.mode != 'Append')",
        "a write with mode Append must not be used with primaryKeys, where rows merge: use Upsert",
        path=".writes",
    ),
]


def _keys(list_: str) -> str:
    """Bytes of a list of names, which are ASCII."""
    return f"{list_}.map(k, k.size() + 3).sum()"


def _options(map_: str) -> str:
    """Bytes of a map of options; 0 if it is absent."""
    return f"(has({map_}) ? {map_}.map(k, bytes(k).size() + bytes({map_}[k]).size() + 6).sum() : 0)"


_AGGREGATE_BYTES: Final = (
    "(has(c.aggregate) ? 220 + (has(c.aggregate.nestedKey) ? " + _keys("c.aggregate.nestedKey") + " : 0) : 0)"
)
_COLUMN_BYTES: Final = (
    "48 + c.name.size() + c.type.size() + (has(c.comment) ? bytes(c.comment).size() : 0)"
    " + (has(c.renamedFrom) ? c.renamedFrom.size() + 18 : 0)"
    " + (has(c.defaultValue) ? 20 + bytes(c.defaultValue).size() : 0) + " + _AGGREGATE_BYTES
)
_GROUP_BYTES: Final = f"48 + {_keys('g.columns')} + {_keys('g.sequenceFields')}"
_WRITE_BYTES: Final = "512 + (has(w.from.files.path) ? bytes(w.from.files.path).size() : 0) + " + _options("w.options")

_SIZE: Final = [
    not_larger(
        f"self.schema.columns.map(c, {_COLUMN_BYTES}).sum()"
        f" + (has(self.schema.droppedColumns) ? {_keys('self.schema.droppedColumns')} : 0)"
        f" + (has(self.mergeEngine) && {_GROUPS}"
        f" ? self.mergeEngine.partialUpdate.sequenceGroups.map(g, {_GROUP_BYTES}).sum() : 0)"
        f" + {_options('self.options')}"
        f" + (has(self.writes) ? self.writes.map(w, {_WRITE_BYTES}).sum() : 0)",
        "shorten comments, types and options, or split the table",
    )
]

SPEC_RULES: Final = [
    *_IDENTITY,
    *_BUCKETS,
    *_MERGING,
    *SETTING_RULES,
    *RETENTION_RULES,
    *SORT_RULES,
    *VERIFY_RULES,
    *_WORK,
    *_SIZE,
]


def _frozen(field: str, message: str, parent: str = "") -> dict[str, str]:
    """Rule for a field that is immutable once the table exists; before that, users can correct it."""
    names = field.split(".")
    present = [".".join(names[: depth + 1]) for depth in range(len(names))]
    chain = {
        side: " && ".join(f"has({side}.spec.{name})" for name in present if name != parent)
        for side in ("self", "oldSelf")
    }
    same = f"self.spec.{field} == oldSelf.spec.{field}"
    return rule(
        "!has(oldSelf.status) || !has(oldSelf.status.table)"
        f" || ((({chain['self']}) == ({chain['oldSelf']})) && (!({chain['self']}) || {same}))",
        message,
        path=f".spec.{field}",
        reason=_FORBIDDEN,
    )


def _frozen_value(field: str, default: str, message: str) -> dict[str, str]:
    """The same for a field whose absence means `default`, in CEL, so that users may write the default out."""
    names = field.split(".")
    present = [".".join(names[: depth + 1]) for depth in range(len(names))]
    values = [
        f"({' && '.join(f'has({side}.spec.{name})' for name in present)} ? {side}.spec.{field} : {default})"
        for side in ("self", "oldSelf")
    ]
    return rule(
        f"!has(oldSelf.status) || !has(oldSelf.status.table) || {values[0]} == {values[1]}",
        message,
        path=f".spec.{field}",
        reason=_FORBIDDEN,
    )


_ENGINE = "(has({0}.spec.mergeEngine) ? {0}.spec.mergeEngine.type : 'Deduplicate')"

ROOT_RULES: Final = [
    _frozen(
        "schema.primaryKeys", "primaryKeys must not change once the table exists: create another table", parent="schema"
    ),
    _frozen(
        "schema.partitionKeys",
        "partitionKeys must not change once the table exists: create another table",
        parent="schema",
    ),
    _frozen("sequence", "sequence must not change once the table exists: old files would merge by the new rule"),
    rule(
        "!has(oldSelf.status) || !has(oldSelf.status.table)"
        f" || {_ENGINE.format('self')} == {_ENGINE.format('oldSelf')}",
        "mergeEngine.type must not change once the table exists: create another table",
        path=".spec.mergeEngine",
        reason=_FORBIDDEN,
    ),
    _frozen_value(
        "schema.partitionDefaultName",
        "'__DEFAULT_PARTITION__'",
        "partitionDefaultName must not change once the table exists: old partitions keep their name",
    ),
    _frozen_value(
        "deletionVectors.enabled",
        "false",
        "deletionVectors.enabled must not change once the table exists: create another table",
    ),
    *(
        _frozen_value(field, default, f"{field.rpartition('.')[2]} must not change once the table exists")
        for field, default in (
            ("mergeEngine.rowKindField", "''"),
            ("mergeEngine.aggregation.removeRecordOnDelete", "false"),
            ("mergeEngine.partialUpdate.removeRecordOnDelete", "false"),
            ("mergeEngine.partialUpdate.removeRecordOnSequenceGroup", "[]"),
        )
    ),
]
