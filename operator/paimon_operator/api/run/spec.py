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
"""Types of runs that users may create."""


class CompactStrategy(StrEnum):
    """Strategy of a compaction."""

    MINOR = "Minor"
    FULL = "Full"


Partition = Annotated[dict[str, Annotated[str, Field(max_length=256)]], Field(min_length=1, max_length=16)]
"""Partition key -> value, as text."""


class TableRef(ApiModel):
    """Table of a run."""

    name: ShortName
    """Name of a PaimonTable in the same namespace."""


class WriteRun(ApiModel):
    """The write to run."""

    name: MemberName
    """Name of one of the table's writes."""


class CompactRun(ApiModel):
    """Settings of a compaction."""

    strategy: CompactStrategy
    """Minor: merges a few sorted runs. Full: rewrites each bucket into one sorted run."""
    partitions: Annotated[tuple[Partition, ...], Field(min_length=1, max_length=100)] | None = None
    """Partitions to compact, whatever partitionIdleTime is set to. Each entry has values for all partition keys, or for
    some of them and then selects all that match. Absent: all partitions."""


class TriggerInfo(ApiModel):
    """What made the operator start the run. Absent on runs that users created."""

    type: RunTrigger
    """Spec, Schedule, Once, Deletion or User."""
    due_time: Time | None = None
    """Tick of the schedule that started the run."""
    spec_hash: Hash | None = None
    """Hash of the part of the table's spec that the run applies."""
    message: Message | None = None
    """Explanation of the trigger."""


def _member(field: str, run_type: str) -> dict[str, str]:
    return rule(
        f"(self.type == '{run_type}') == has(self.{field})",
        f"{field} must be set when type is {run_type}, and only then",
        path=f".{field}",
    )


class PaimonRunSpec(ApiModel):
    """Request of the run. Immutable."""

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
    """Table of the run."""
    type: RunType
    """Type of the run. Users may create Compact and ExpireSnapshots; only the operator creates Provision, Write and
    Drop."""
    write: WriteRun | None = None
    """Set when type is Write."""
    compact: CompactRun | None = None
    """Set when type is Compact."""
    trigger: TriggerInfo | None = None
    """What made the operator start the run."""
    active_deadline: Duration | None = None
    """Longest time that the container may run. Then the run is stopped. Absent: the table's runPolicy."""
    backoff_limit: BackoffLimit | None = None
    """Number of retries. Absent: the table's runPolicy."""
    ttl_after_finished: Duration | None = None
    """Time after its end when the run is deleted. Absent: runs that users created stay until they are deleted."""


class PaimonRun(ApiModel):
    """One Spark application for one table: its request, its trigger, its outcome and its cost."""

    api_version: Literal["paimon-operator.dev/v1alpha1"] = "paimon-operator.dev/v1alpha1"
    kind: Literal["PaimonRun"] = "PaimonRun"
    metadata: ObjectMeta
    spec: PaimonRunSpec
    """Request of the run. Immutable."""
    status: RunStatus = RunStatus()
    """State and outcome of the run."""
