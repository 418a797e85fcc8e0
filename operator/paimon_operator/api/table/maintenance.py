"""Verification of maintenance: whether compactions are proved to change no row, and what follows if one has."""

from __future__ import annotations

from enum import StrEnum

from paimon_operator.api.base import ApiModel, rule, validated


class Verify(StrEnum):
    """Rows that are compared before and after a rewrite by maintenance."""

    NEVER = "Never"
    SAMPLE = "Sample"
    ALWAYS = "Always"


class OnMismatch(StrEnum):
    """What follows if a rewrite has changed rows."""

    HOLD = "Hold"
    ROLLBACK = "Rollback"


class Maintenance(ApiModel):
    """Verification of maintenance."""

    model_config = validated(
        rule(
            "self.verify != 'Never' || !has(self.onMismatch)",
            "onMismatch must not be set with verify Never",
            path=".onMismatch",
            reason="FieldValueForbidden",
        ),
    )

    verify: Verify
    """Whether rows are counted and summed before and after each commit of a compaction. Never: they are not. Sample:
    in up to ten buckets. Always: in the whole table, which reads it twice."""
    on_mismatch: OnMismatch | None = None
    """What follows if rows differ: all maintenance of the table is held, and the older snapshot gets a tag. Hold: no
    more than that. Rollback: the table is also rolled back, unless another commit would be lost. Absent: Hold."""
