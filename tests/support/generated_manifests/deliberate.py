"""Rules that refuse manifests whose rows Paimon would keep, each with its reason.

What Paimon ignores is refused, because a user who sets it expects an effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from paimon_operator.errors import SpecError

_COLUMN: Final = r"spec\.schema\.columns\[\d+\]"
_PARTIAL: Final = r"spec\.mergeEngine\.partialUpdate"


@dataclass(frozen=True)
class Deliberate:
    """A rule by the field and the problem that it reports, as patterns, and its reason."""

    field: str
    problem: str
    reason: str

    def covers(self, error: SpecError) -> bool:
        """Whether the error is of this rule."""
        return re.fullmatch(self.field, error.field) is not None and re.search(self.problem, error.problem) is not None


DELIBERATE: Final = (
    Deliberate(r"spec\..*", "must not be set unless", "the block would have no effect"),
    Deliberate(r"spec\..*", "the engine paimon-.* (has|knows) no", "Paimon ignores it on this engine"),
    Deliberate(r"spec\.options\[.*\]", "knows no option", "Paimon stores an unknown option and ignores it"),
    Deliberate(r"spec\.options\[.*\]", "has a field of its own", "a value must not be set twice"),
    Deliberate(r"spec\.options\[.*\]", "is an option of|belongs to|names a place|may be set here", "docs/tables.md"),
    Deliberate(r"spec\.options\[.*\]", r"is not (at least|above|from|at most)", "ranges of option_bounds.yaml"),
    Deliberate(r"spec\.options\[.*\]", "is not a|is none of", "the option applies to other tables, and fails there"),
    Deliberate(r"spec\.mergeEngine\..*", "is not true or false", "an option sets the field's value twice"),
    Deliberate(rf"{_COLUMN}\.aggregate", "does not aggregate|is the same in all rows", "Paimon ignores the function"),
    Deliberate(rf"{_COLUMN}\.aggregate\..*", "has no (delimiter|distinct)", "Paimon ignores the setting"),
    Deliberate(rf"{_COLUMN}\.defaultValue", "would merge it|is a key|no default value|takes the quotes|is NOT NULL",
        "tests/spark/test_default_values.py shows what happens"),
    Deliberate(rf"{_COLUMN}\.defaultValue", "is no value of type", "Paimon cuts, rounds or drops the text"),
    Deliberate(rf"{_COLUMN}\.name", "for itself", "Paimon's own names, which files or system tables have"),
    Deliberate(rf"{_COLUMN}\.type", "timestamps have 6 digits", "Spark would lose the other digits"),
    Deliberate(rf"{_PARTIAL}\.sequenceGroups\[\d+\]\.columns\[\d+\]", "is a primary key|orders the group",
        "Paimon ignores the column in this group"),
    Deliberate(r".*(sequenceFields|sequence\.fields)\[\d+\]", "have no order", "pypaimon refuses to read the table"),
    Deliberate(rf"{_PARTIAL}\.removeRecordOnSequenceGroup\[\d+\]", "no sequence field", "Paimon 0.9 ignores it"),
    Deliberate(r"spec\.(mergeEngine|sequence)", "there is none", "rows of an append table do not merge"),
    Deliberate(r"spec\.sequence", "of their own", "Paimon ignores one of the two orders"),
    Deliberate(r"spec\.bucket\.type", "Dynamic needs a primary key", "the table would have no buckets"),
    Deliberate(r"spec\.bucket\.fixed", "no count is given", "the table would have no buckets"),
    Deliberate(r"spec\.bucket\.fixed\.onCountChange", "a rescale loses", "tests/spark/test_rescale.py: only later"),
    Deliberate(r"spec\.compaction\.mode", "postponed buckets", "tests/spark/test_postponed_buckets.py"),
    Deliberate(r"spec\.compaction\.sort.*", ".", "tests/spark/test_sort_compaction.py: it fails only later"),
    Deliberate(r"spec\.compaction\.partitionIdleTime", "has no partitions|too long", "nothing would be idle"),
    Deliberate(r"spec\.changelogProducer\.fullCompaction\.deltaCommits", "count commits|do not compact",
        "tests/spark/test_settings_that_break.py, test_settings_read_back.py: the engine makes no changelog by it"),
    Deliberate(r"spec\.(timeZone|.*\.schedule|runPolicy\..*|spark\..*|externalWriters)", ".", "not of the table"),
)  # fmt: skip

SHAPES: Final = {
    "spec.schema.columns": "the text of a type that neither Paimon nor Spark has",
    "spec.schema.partitionDefaultName": "a directory outside of the table",
    "spec.bucket.fixed.count": "Paimon has no table of no bucket",
    "spec.compaction": "a duration that no schedule has",
    "spec.changelogProducer": "a duration that Paimon does not read",
    "spec.retention": "a duration or a number that keeps no snapshot",
    "spec.runPolicy": "not of the table",
}
"""Field -> why the schema itself refuses some of its values. Such a manifest makes no table."""


def unexplained(errors: Iterable[SpecError]) -> list[SpecError]:
    """Errors that are not deliberate, nor the consequence of a deliberate one at the same field."""
    seen = list(errors)
    covered = [error for error in seen if any(each.covers(error) for each in DELIBERATE)]
    return [
        error
        for error in seen
        if error not in covered and not any(error.field.startswith(f"{cause.field}.") for cause in covered)
    ]
