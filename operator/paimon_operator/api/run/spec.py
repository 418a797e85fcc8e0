"""PaimonRun: one Spark application for one table."""

from __future__ import annotations

from typing import Literal, TypeVar

from pydantic import ConfigDict

from paimon_operator.api.base import (
    ApiModel,
    Duration,
    Hash,
    Message,
    ObjectMeta,
    ShortName,
    Time,
    rule,
)
from paimon_operator.api.policies import BackoffLimit
from paimon_operator.api.run.status import RunStatus, RunTrigger, RunType

MemberT = TypeVar("MemberT", bound=ApiModel)


class TableRef(ApiModel):
    """The table of a run."""

    name: ShortName
    """Name of a PaimonTable in the same namespace."""


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


class PaimonRunSpec(ApiModel):
    """What was asked for. Never changes."""

    # Beside these fields it has the member of its type, if that has parameters: each operation has the model of its
    # own, the CRD is composed of all of them (generate/run_types.py), and `member_of` reads one.
    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "x-kubernetes-validations": [
                rule("self == oldSelf", "spec must not change: make a new PaimonRun", reason="FieldValueForbidden")
            ]
        },
    )

    table_ref: TableRef
    """The table."""
    type: RunType
    """What the run does."""
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


def member_of(spec: PaimonRunSpec, field: str, model: type[MemberT]) -> MemberT | None:
    """The member of the run's type, None when it is absent. Raises pydantic's ValidationError."""
    given = (spec.model_extra or {}).get(field)
    return None if given is None else model.model_validate(given)
