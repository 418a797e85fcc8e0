"""PaimonRun: one Spark application for one table."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

from pydantic import ConfigDict, Field

from paimon_operator.api.base import (
    ApiModel,
    Deadline,
    Duration,
    Hash,
    Message,
    ObjectMeta,
    ShortName,
    Time,
    rule,
    with_rules,
)
from paimon_operator.api.policies import BackoffLimit
from paimon_operator.api.run.status import BY_OPERATOR, Expectation, RunStatus, RunTrigger, RunType

MemberT = TypeVar("MemberT", bound=ApiModel)


class TableRef(ApiModel):
    """Table of a run."""

    name: ShortName
    """Name of a PaimonTable in the same namespace."""


class TriggerInfo(ApiModel):
    """What made the operator start the run. Absent on runs that users created."""

    type: Annotated[RunTrigger, Field(json_schema_extra={"enum": [each.value for each in BY_OPERATOR]})]
    """Spec, Schedule, Once or Deletion."""
    due_time: Annotated[Time, Field(json_schema_extra={"maxLength": 32})] | None = None
    """Tick of the schedule that started the run."""
    spec_hash: Hash | None = None
    """Hash of the part of the table's spec that the run applies."""
    message: Message | None = None
    """Explanation of the trigger."""
    expected: Expectation | None = None
    """What the operator expected of the run."""


class PaimonRunSpec(ApiModel):
    """Request of the run. Immutable."""

    # Beside these fields it has the member of its type, if that has parameters: each operation has the model of its
    # own, the CRD is composed of all of them (generate/run_types.py), and `member_of` reads one.
    model_config = ConfigDict(
        extra="allow",
        json_schema_extra=with_rules(
            rule("self == oldSelf", "spec must not change: make a new PaimonRun", reason="FieldValueForbidden")
        ),
    )

    table_ref: TableRef
    """Table of the run."""
    type: RunType
    """Type of the run."""
    trigger: TriggerInfo | None = None
    """What made the operator start the run."""
    active_deadline: Deadline | None = None
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


def member_of(spec: PaimonRunSpec, field: str, model: type[MemberT]) -> MemberT | None:
    """The member of the run's type, None when it is absent. Raises pydantic's ValidationError."""
    given = (spec.model_extra or {}).get(field)
    return None if given is None else model.model_validate(given)
