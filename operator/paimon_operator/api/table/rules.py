"""CEL rules over more than one field of a PaimonTable. Rules about types and engines are in `core/validation`."""

from __future__ import annotations

from typing import Any, Final

from pydantic import Field

from paimon_operator.api.base import first_broken, rule, with_rules
from paimon_operator.api.table.retention_rules import RETENTION_RULES
from paimon_operator.api.table.rule_terms import BUCKET, ENGINE, FORBIDDEN, GROUPS, KEYED, NAMES
from paimon_operator.api.table.setting_rules import SETTING_RULES
from paimon_operator.api.table.size_rule import SIZE_RULES
from paimon_operator.api.table.sort_rules import SORT_RULES
from paimon_operator.api.table.verify_rules import VERIFY_RULES

_REQUIRED = "FieldValueRequired"
_AGGREGATED = "self.schema.columns.filter(c, has(c.aggregate)).map(c, c.name)"
_FIXED_KEYS = "self.?bucket.?fixed.?keys.hasValue()"


def _immutable(name: str) -> dict[str, Any]:
    """Schema of a field that never changes. A rule beside the field costs less than one of the spec that reads it."""
    message = f"{name} must not change: create another PaimonTable"
    return with_rules(rule("self == oldSelf", message, reason=FORBIDDEN))


CATALOG_REF: Final = Field(json_schema_extra=_immutable("catalogRef"))
DATABASE: Final = Field(json_schema_extra=_immutable("database"))

_IDENTITY: Final = [
    rule(
        "has(self.table) == has(oldSelf.table) && (!has(self.table) || self.table == oldSelf.table)",
        "table must not change: create another PaimonTable",
        path=".table",
        reason=FORBIDDEN,
    ),
]

_BUCKETS: Final = [
    rule(
        f"{BUCKET} != 'Dynamic' || {KEYED}",
        "bucket.type Dynamic needs primaryKeys: use Unaware or Fixed",
        path=".bucket.type",
    ),
    rule(
        f"{BUCKET} != 'Unaware' || !{KEYED}",
        "bucket.type Unaware must not be used with primaryKeys: use Dynamic or Fixed",
        path=".bucket.type",
    ),
    rule(
        f"{BUCKET} != 'Fixed' || has(self.bucket.fixed.keys) || {KEYED}",
        "bucket.fixed.keys must be set on a table without primaryKeys",
        path=".bucket.fixed",
        reason=_REQUIRED,
    ),
    rule(
        f"!{_FIXED_KEYS} || sets.contains({NAMES}, self.bucket.fixed.keys)",
        "every bucket key must be one of the columns",
        path=".bucket.fixed.keys",
    ),
    rule(
        f"!{_FIXED_KEYS} || !{KEYED} || sets.contains(self.schema.primaryKeys, self.bucket.fixed.keys)",
        "every bucket key must be one of the primaryKeys",
        path=".bucket.fixed.keys",
    ),
    rule(
        f"!{_FIXED_KEYS} || !has(self.schema.partitionKeys)"
        " || !sets.intersects(self.schema.partitionKeys, self.bucket.fixed.keys)",
        "a partition key must not be a bucket key: it is the same for all rows of a partition",
        path=".bucket.fixed.keys",
    ),
    rule(
        "self.externalWriters != 'Active' || self.?bucket.?fixed.?onCountChange.orValue('') != 'Rescale'",
        "onCountChange Rescale must not be set with externalWriters Active: a rescale would lose their rows",
        path=".bucket.fixed.onCountChange",
        reason=FORBIDDEN,
    ),
    rule(
        f"self.externalWriters != 'Active' || {BUCKET} == 'Fixed' || !{KEYED}",
        "with externalWriters Active a table with primaryKeys needs bucket.type Fixed: others allow one writer",
        path=".externalWriters",
    ),
]

_MERGING: Final = [
    rule(
        f"!has(self.mergeEngine) || {KEYED}",
        "mergeEngine must not be set without primaryKeys",
        path=".mergeEngine",
        reason=FORBIDDEN,
    ),
    rule(
        f"!has(self.sequence) || {KEYED}",
        "sequence must not be set without primaryKeys",
        path=".sequence",
        reason=FORBIDDEN,
    ),
    rule(
        f"!has(self.changelogProducer) || self.changelogProducer.type == 'None' || {KEYED}",
        "changelogProducer must be None without primaryKeys",
        path=".changelogProducer.type",
    ),
    rule(
        f"{ENGINE} in ['Aggregation', 'PartialUpdate'] || !self.schema.columns.exists(c, has(c.aggregate))",
        "aggregate must not be set on a column unless mergeEngine.type is Aggregation or PartialUpdate:"
        " Paimon ignores it silently",
        path=".schema.columns",
        reason=FORBIDDEN,
    ),
    rule(
        f"!has(self.sequence) || {ENGINE} != 'FirstRow'",
        "sequence must not be set with mergeEngine.type FirstRow",
        path=".sequence",
        reason=FORBIDDEN,
    ),
    rule(
        f"{ENGINE} != 'FirstRow' || self.?changelogProducer.?type.orValue('None') in ['None', 'Lookup']",
        "with mergeEngine.type FirstRow changelogProducer must be None or Lookup",
        path=".changelogProducer.type",
    ),
    rule(
        f"!has(self.sequence) || sets.contains({NAMES}, self.sequence.fields)",
        "every sequence field must be one of the columns",
        path=".sequence.fields",
    ),
    rule(
        f"!has(self.sequence) || !sets.intersects(self.sequence.fields, {_AGGREGATED})",
        "a sequence field must not have an aggregate",
        path=".sequence.fields",
    ),
    rule(
        f"!has(self.sequence) || !{GROUPS}",
        "sequence must not be set with sequence groups: they have sequenceFields of their own",
        path=".sequence",
        reason=FORBIDDEN,
    ),
    # Two rules, because one over both lists exceeds the run-time cost of a single rule on the widest table.
    rule(
        f"!{GROUPS} || self.mergeEngine.partialUpdate.sequenceGroups.all(g, sets.contains({NAMES}, g.columns))",
        "every column of a sequence group must be one of the columns",
        path=".mergeEngine.partialUpdate.sequenceGroups",
    ),
    rule(
        f"!{GROUPS} || self.mergeEngine.partialUpdate.sequenceGroups.all(g, sets.contains({NAMES}, g.sequenceFields))",
        "every sequence field of a sequence group must be one of the columns",
        path=".mergeEngine.partialUpdate.sequenceGroups",
    ),
    rule(
        f"!{GROUPS} || !{KEYED}"
        " || self.mergeEngine.partialUpdate.sequenceGroups.all(g,"
        " !sets.intersects(self.schema.primaryKeys, g.columns))",
        "a primary key must not be in a sequence group",
        path=".mergeEngine.partialUpdate.sequenceGroups",
    ),
]

_WORK: Final = [
    rule(
        "!self.?compaction.?partitionIdleTime.hasValue() || has(self.schema.partitionKeys)",
        "compaction.partitionIdleTime must not be set without partitionKeys",
        path=".compaction.partitionIdleTime",
        reason=FORBIDDEN,
    ),
    rule(
        f"!has(self.writes) || {KEYED} || self.writes.all(w, w.mode != 'Upsert')",
        "a write with mode Upsert needs primaryKeys: use Append",
        path=".writes",
    ),
    rule(
        f"!has(self.writes) || !{KEYED} || self.writes.all(w, w.mode != 'Append')",
        "a write with mode Append must not be used with primaryKeys, where rows merge: use Upsert",
        path=".writes",
    ),
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
    *SIZE_RULES,
]


_FROZEN_MERGING: Final = {
    "mergeEngine.type": "'Deduplicate'",
    "mergeEngine.rowKindField": "''",
    "mergeEngine.aggregation.removeRecordOnDelete": "false",
    "mergeEngine.partialUpdate.removeRecordOnDelete": "false",
    "mergeEngine.partialUpdate.removeRecordOnSequenceGroup": "[]",
}
_NEW = "!has(oldSelf.status) || !has(oldSelf.status.table)"
"""Before the table exists, users can correct all of its manifest. The costly half of a rule: it comes last."""


def _has(field: str, side: str) -> str:
    """Whether a field of the spec is there, in CEL. It reads each block once, `has(a) && has(a.b)` reads `a` twice."""
    return f"{side}.spec.?{field.replace('.', '.?')}.hasValue()"


def _frozen_keys(name: str) -> dict[str, str]:
    """Rule for a list of the schema that is immutable once the table exists. It is absent where it is empty."""
    now, before = f"self.spec.schema.{name}", f"oldSelf.spec.schema.{name}"
    # Two optionals are not compared: the API server cannot estimate what that costs, and refuses the rule.
    same = f"has({now}) ? {now} == oldSelf.spec.schema.?{name}.orValue([]) : !has({before})"
    message = f"{name} must not change once the table exists: create another table"
    return rule(f"({same}) || {_NEW}", message, path=f".spec.schema.{name}", reason=FORBIDDEN)


def _frozen_sequence() -> dict[str, str]:
    """Rule for `sequence`, whose absence is a value of its own."""
    now, before = "self.spec.sequence", "oldSelf.spec.sequence"
    same = f"has({now}) ? has({before}) && {now} == {before} : !has({before})"
    message = "sequence must not change once the table exists: old files would merge by the new rule"
    return rule(f"({same}) || {_NEW}", message, path=".spec.sequence", reason=FORBIDDEN)


def _same(field: str, default: str) -> str:
    """Whether a field has the value that it had. Its absence means `default`, in CEL: users may write that out."""
    values = [f"({_has(field, side)} ? {side}.spec.{field} : {default})" for side in ("self", "oldSelf")]
    return " == ".join(values)


def _frozen_value(field: str, default: str, message: str) -> dict[str, str]:
    """Rule for a field that is immutable once the table exists, and whose absence means `default`."""
    return rule(f"{_same(field, default)} || {_NEW}", message, path=f".spec.{field}", reason=FORBIDDEN)


def _frozen_merging() -> dict[str, str]:
    """One rule for all fields of mergeEngine that are immutable: most tables have none of them."""
    same = {field: _same(field, default) for field, default in _FROZEN_MERGING.items()}
    absent = f"!({_has('mergeEngine', 'self')} || {_has('mergeEngine', 'oldSelf')})"
    return rule(
        f"{absent} || ({' && '.join(same.values())}) || {_NEW}",
        "mergeEngine must not change in how rows merge once the table exists: create another table",
        path=".spec.mergeEngine",
        reason=FORBIDDEN,
        message_expression=f"{first_broken(same)} + ' must not change once the table exists: create another table'",
    )


ROOT_RULES: Final = [
    _frozen_keys("primaryKeys"),
    _frozen_keys("partitionKeys"),
    _frozen_sequence(),
    _frozen_merging(),
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
]
