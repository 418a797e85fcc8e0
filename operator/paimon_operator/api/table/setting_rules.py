"""CEL rules over settings of a PaimonTable that depend on each other. `core/validation/settings.py` has the same."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.base import cel_list, first_broken, rule
from paimon_operator.api.table.columns import RETRACTING
from paimon_operator.api.table.options import FILE_INDEXES, LOOKUP_FIELDS
from paimon_operator.api.table.rule_terms import BUCKET, ENGINE, FORBIDDEN, KEYED, NAMES, PRODUCER

_VECTORS = "self.?deletionVectors.?enabled.orValue(false)"
_ROW_KIND = "self.?mergeEngine.?rowKindField.hasValue()"
_WITH_DEFAULT = "self.schema.columns.filter(c, has(c.defaultValue)).map(c, c.name)"
_REMOVES = "self.?mergeEngine.?aggregation.?removeRecordOnDelete.orValue(false)"
_DELTA_COMMITS = "self.?changelogProducer.?fullCompaction.?deltaCommits.hasValue()"

_LOOKUP_OPTION = f"k in {cel_list(LOOKUP_FIELDS)}"

_POSTPONE: Final = [
    rule(
        f"{BUCKET} != 'Postpone' || {KEYED}",
        "bucket.type Postpone needs primaryKeys: use Unaware or Fixed",
        path=".bucket.type",
    ),
    rule(
        f"{BUCKET} != 'Postpone' || self.?compaction.?mode.orValue('') != 'Inline'",
        "with bucket.type Postpone compaction.mode must be Dedicated or External: its writers never compact",
        path=".compaction.mode",
    ),
]

_VECTOR_RULES: Final = [
    rule(
        f"!{_VECTORS} || {ENGINE} != 'FirstRow'",
        "deletionVectors must not be enabled with mergeEngine.type FirstRow",
        path=".deletionVectors.enabled",
    ),
    rule(
        f"!{_VECTORS} || {PRODUCER} != 'FullCompaction'",
        "deletionVectors must not be enabled with changelogProducer.type FullCompaction: use Lookup or Input",
        path=".deletionVectors.enabled",
    ),
]

_ROW_KINDS: Final = [
    rule(
        f"!{_ROW_KIND} || self.mergeEngine.rowKindField in {NAMES}",
        "rowKindField must be one of the columns",
        path=".mergeEngine.rowKindField",
    ),
    rule(
        f"!{_ROW_KIND} || !{KEYED} || !(self.mergeEngine.rowKindField in self.schema.primaryKeys)",
        "rowKindField must not be a primary key: a delete would have another key than its row",
        path=".mergeEngine.rowKindField",
    ),
    rule(
        f"!{_ROW_KIND} || !self.schema.columns.exists(c, c.name == self.mergeEngine.rowKindField"
        " && (has(c.aggregate) || has(c.defaultValue)))",
        "the column of rowKindField must have no aggregate and no defaultValue",
        path=".mergeEngine.rowKindField",
    ),
    rule(
        f"!{_ROW_KIND} || self.mergeEngine.?ignoreDelete.orValue(false) || {_REMOVES}"
        " || !self.schema.columns.exists(c, has(c.aggregate)"
        " && !c.aggregate.?ignoreRetract.orValue(false)"
        f" && !(c.aggregate.function in {cel_list(RETRACTING)}))",
        "with rowKindField an aggregate function that cannot retract needs ignoreRetract: it fails at deletes",
        path=".schema.columns",
    ),
    rule(
        f"!{_REMOVES} || !self.schema.columns.exists(c, c.?aggregate.?ignoreRetract.orValue(false))",
        "removeRecordOnDelete must not be true with a column that has ignoreRetract: the first write fails",
        path=".mergeEngine.aggregation.removeRecordOnDelete",
        reason=FORBIDDEN,
    ),
]

_DEFAULTS: Final = [
    rule(
        f"!({ENGINE} in ['PartialUpdate', 'Aggregation']) || !self.schema.columns.exists(c, has(c.defaultValue))",
        "defaultValue must not be set with mergeEngine.type PartialUpdate or Aggregation:"
        " it would merge into rows where the column is absent",
        path=".schema.columns",
        reason=FORBIDDEN,
    ),
    rule(
        f"!self.?bucket.?fixed.?keys.hasValue() || !sets.intersects(self.bucket.fixed.keys, {_WITH_DEFAULT})",
        "a bucket key must not have a defaultValue",
        path=".schema.columns",
        reason=FORBIDDEN,
    ),
]

_CHANGELOG: Final = [
    rule(
        f"!{_DELTA_COMMITS} || self.?compaction.?mode.orValue('Inline') == 'Inline'",
        "fullCompaction.deltaCommits must not be set unless compaction.mode is Inline: writers that do not compact"
        " fail. Use compaction.full.schedule",
        path=".changelogProducer.fullCompaction.deltaCommits",
        reason=FORBIDDEN,
    ),
    rule(
        f"{PRODUCER} != 'Lookup' || !has(self.options) || !self.options.exists(k, {_LOOKUP_OPTION})",
        "with changelogProducer.type Lookup the options of its cache must be set in changelogProducer.lookup",
        path=".options",
        reason=FORBIDDEN,
    ),
]

_UPSERT_KEY: Final = [
    rule(
        f"!has(self.options) || !('upsert-key' in self.options) || !{KEYED}",
        "option upsert-key must not be set with primaryKeys",
        path=".options",
        reason=FORBIDDEN,
    ),
]


def _listed(index: str) -> str:
    """The columns of one kind of index, in CEL. `tags[colour]` is a key of the map `tags`."""
    return f"self.options['file-index.{index}.columns'].split(',').map(c, c.trim().split('[')[0])"


_INDEX_OPTIONS: Final = {
    f"file-index.{index}.columns": (
        f"!('file-index.{index}.columns' in self.options) || sets.contains({NAMES}, {_listed(index)})"
    )
    for index in FILE_INDEXES
}

_INDEXES: Final = [
    rule(
        f"!has(self.options) || ({' && '.join(f'({holds})' for holds in _INDEX_OPTIONS.values())})",
        "options file-index.*.columns must list columns of the table",
        path=".options",
        message_expression=f"'option ' + {first_broken(_INDEX_OPTIONS)} + ' must list columns of the table'",
    )
]

SETTING_RULES: Final = [*_POSTPONE, *_VECTOR_RULES, *_ROW_KINDS, *_DEFAULTS, *_CHANGELOG, *_UPSERT_KEY, *_INDEXES]
