"""CEL rules over retention, marks and tags of a PaimonTable and its other fields. `core/validation` has the same."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.base import rule
from paimon_operator.api.retention import LEAST_WITH_OTHER_WRITERS_D
from paimon_operator.api.table.rule_terms import FORBIDDEN, KEYED, PRODUCER

_HAS = "self.?retention.?{}.hasValue()"
_PARTITIONS = _HAS.format("partitions")
_RECORDS = _HAS.format("records")
_STRATEGY = "self.?retention.?partitions.?strategy.orValue('')"

RETENTION_RULES: Final = [
    rule(
        f"!{_HAS.format('changelogs')} || {PRODUCER} != 'None'",
        "retention.changelogs must not be set without a changelogProducer",
        path=".retention.changelogs",
        reason=FORBIDDEN,
    ),
    rule(
        f"!{_PARTITIONS} || has(self.schema.partitionKeys)",
        "retention.partitions must not be set without partitionKeys",
        path=".retention.partitions",
        reason=FORBIDDEN,
    ),
    rule(
        f"!{_HAS.format('partitions.?timestampPattern')} || !has(self.schema.partitionKeys)"
        " || self.schema.partitionKeys.exists(k, self.retention.partitions.timestampPattern.contains('$' + k))",
        "timestampPattern must contain a partition key, as $dt",
        path=".retention.partitions.timestampPattern",
    ),
    rule(
        f"{_STRATEGY} != 'UpdateTime' || self.externalWriters != 'Active'",
        "strategy UpdateTime must not be used with externalWriters Active: it would drop what they commit meanwhile",
        path=".retention.partitions.strategy",
        reason=FORBIDDEN,
    ),
    rule(
        f"{_STRATEGY} != 'UpdateTime' || self.externalWriters != 'Paused'"
        f" || self.retention.partitions.expirationTime >= duration('{24 * LEAST_WITH_OTHER_WRITERS_D}h')",
        "with strategy UpdateTime and other writers expirationTime must be at least"
        f" {LEAST_WITH_OTHER_WRITERS_D}d: the times of their files are in the time zones of their JVMs",
        path=".retention.partitions.expirationTime",
    ),
    rule(
        f"!{_RECORDS} || {KEYED}",
        "retention.records must not be set without primaryKeys: only their compactions remove records",
        path=".retention.records",
        reason=FORBIDDEN,
    ),
    rule(
        f"!{_RECORDS} || self.schema.columns.exists(c, c.name == self.retention.records.timeField)",
        "timeField must be one of the columns",
        path=".retention.records.timeField",
    ),
    rule(
        f"!{_RECORDS} || self.?bucket.?fixed.?onCountChange.orValue('') != 'Rescale'",
        "retention.records must not be set with onCountChange Rescale, which proves that no record was lost",
        path=".retention.records",
        reason=FORBIDDEN,
    ),
    rule(
        "self.?retention.?orphanFiles.?mode.orValue('') != 'Delete' || self.externalWriters != 'Active'",
        "orphanFiles.mode Delete must not be used with externalWriters Active: it could remove what they commit later",
        path=".retention.orphanFiles.mode",
        reason=FORBIDDEN,
    ),
    rule(
        "!has(self.markPartitionsDone) || has(self.schema.partitionKeys)",
        "markPartitionsDone must not be set without partitionKeys",
        path=".markPartitionsDone",
        reason=FORBIDDEN,
    ),
    rule(
        "!self.?markPartitionsDone.?timestampPattern.hasValue() || !has(self.schema.partitionKeys)"
        " || self.schema.partitionKeys.exists(k, self.markPartitionsDone.timestampPattern.contains('$' + k))",
        "timestampPattern must contain a partition key, as $dt",
        path=".markPartitionsDone.timestampPattern",
    ),
    rule(
        "!has(self.tags) || self.tags.automaticCreation != 'Watermark' || self.externalWriters != 'None'",
        "automaticCreation Watermark needs other writers: the operator's commits have no watermark",
        path=".tags.automaticCreation",
    ),
]
