"""PaimonRun: one Spark application for one table."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import Field

from paimon_operator.api.base import (
    ApiModel,
    Duration,
    Hash,
    MemberName,
    Message,
    ObjectMeta,
    ShortName,
    Time,
    rule,
    validated,
)
from paimon_operator.api.policies import BackoffLimit
from paimon_operator.api.run.status import RunStatus, RunTrigger, RunType

ON_DEMAND: Final = frozenset({RunType.COMPACT, RunType.EXPIRE_SNAPSHOTS})
"""What users may ask for by making a PaimonRun."""


class CompactStrategy(StrEnum):
    """How thoroughly to compact."""

    MINOR = "Minor"
    FULL = "Full"


Partition = Annotated[dict[str, Annotated[str, Field(max_length=256)]], Field(min_length=1, max_length=16)]
"""Partition key -> value, as text."""


class TableRef(ApiModel):
    """The table of a run."""

    name: ShortName
    """Name of a PaimonTable in the same namespace."""


class WriteRun(ApiModel):
    """Which write to run."""

    name: MemberName
    """Name of one of the table's writes."""


class CompactRun(ApiModel):
    """How to compact."""

    strategy: CompactStrategy
    """Minor: merge few sorted runs. Full: rewrite each bucket into one."""
    partitions: Annotated[tuple[Partition, ...], Field(min_length=1, max_length=100)] | None = None
    """Only these partitions, whatever partitionIdleTime says: for each of them the values of all its keys, or of some
    and it stands for all that match. Absent: all partitions."""


class TriggerInfo(ApiModel):
    """Why the operator started the run. Absent on runs made by users."""

    type: RunTrigger
    """Spec, Schedule, Once, Deletion or User."""
    due_time: Time | None = None
    """The tick of the schedule that the run answers."""
    spec_hash: Hash | None = None
    """Hash of the part of the table's spec that the run realises."""
    message: Message | None = None
    """Why, as a sentence."""


def _member(field: str, run_type: str) -> dict[str, str]:
    return rule(
        f"(self.type == '{run_type}') == has(self.{field})",
        f"{field} must be set when type is {run_type}, and only then",
        path=f".{field}",
    )


class PaimonRunSpec(ApiModel):
    """What was asked for. Never changes."""

    model_config = validated(
        rule("self == oldSelf", "spec must not change: make a new PaimonRun", reason="FieldValueForbidden"),
        _member("write", "Write"),
        _member("compact", "Compact"),
        rule(
            f"has(self.trigger) || self.type in [{', '.join(repr(each.value) for each in sorted(ON_DEMAND))}]",
            "only the operator starts runs of this type; users may make Compact and ExpireSnapshots",
            path=".type",
        ),
    )

    table_ref: TableRef
    """The table."""
    type: RunType
    """Users may make Compact and ExpireSnapshots; Provision, Write and Drop are the operator's."""
    write: WriteRun | None = None
    """Set when type is Write."""
    compact: CompactRun | None = None
    """Set when type is Compact."""
    trigger: TriggerInfo | None = None
    """Why the operator started the run."""
    active_deadline: Duration | None = None
    """The run is stopped when its container has been running for this long. Absent: the table's runPolicy."""
    backoff_limit: BackoffLimit | None = None
    """How often it is tried again. Absent: the table's runPolicy."""
    ttl_after_finished: Duration | None = None
    """The run is deleted this long after it succeeded or failed. Absent: runs of users stay until they are deleted."""


class PaimonRun(ApiModel):
    """One Spark application for one table: what was asked for, why, what happened, what it cost."""

    api_version: Literal["paimon-operator.dev/v1alpha1"] = "paimon-operator.dev/v1alpha1"
    kind: Literal["PaimonRun"] = "PaimonRun"
    metadata: ObjectMeta
    spec: PaimonRunSpec
    """What was asked for. Never changes."""
    status: RunStatus = RunStatus()
    """What happened."""
