"""Objects that do not fit their model, because another version of the CRDs accepted them.

Such an object becomes Stalled with the wrong field, and nothing else is done. This module works on plain JSON, because
any part of the object, its status included, may be the unreadable one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pydantic import ValidationError

from paimon_operator.api.conditions import Condition, ConditionType
from paimon_operator.api.policies import DeletionPolicy
from paimon_operator.api.reasons import Reason
from paimon_operator.core.conditions import false, report, stalled, unknown
from paimon_operator.core.decision import EventNote
from paimon_operator.core.ports import Kind, Manifest

_REMEDY: Final = "Bring CRDs and operator to the same version, then correct the field."


@dataclass(frozen=True, kw_only=True)
class Unreadable:
    """Status and Events for an object that cannot be read."""

    status: Mapping[str, Any]
    """The stored status with other conditions; everything else that was observed stays."""
    changed: bool
    events: tuple[EventNote, ...]


def problem_of(error: ValidationError) -> str:
    """The first problem as `field: what is wrong`, and how many more there are; never the value itself."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    more = f" ({error.error_count() - 1} more)" if error.error_count() > 1 else ""
    return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}{more}. {_REMEDY}"


def unreadable(kind: Kind, body: Manifest, problem: str, now: datetime) -> Unreadable:
    """The status to store; `problem` is a sentence with the field's path."""
    stored: Mapping[str, Any] = body.get("status") or {}
    generation = body["metadata"].get("generation", 0)
    ready = (
        unknown(ConditionType.SUCCEEDED, Reason.INVALID_SPEC, problem)
        if kind is Kind.RUN
        else false(ConditionType.READY, Reason.INVALID_SPEC, problem)
    )
    findings = (ready, *stalled(Reason.INVALID_SPEC, problem))
    reported = report(readable_conditions(stored), findings, generation=generation, now=now)
    conditions = [condition.to_json() for condition in reported.conditions]
    status = {**stored, "observedGeneration": generation, "conditions": conditions}
    return Unreadable(status=status, changed=status != stored, events=reported.events)


def may_release(table: Manifest) -> bool:
    """Whether a deleted table that cannot be read may be released: its data stays and no run is active."""
    spec: Mapping[str, Any] = table.get("spec") or {}
    keeps_data = spec.get("deletionPolicy") != DeletionPolicy.DELETE
    at_rest = not (table.get("status") or {}).get("activeRun")
    return bool(table["metadata"].get("deletionTimestamp")) and keeps_data and at_rest


def readable_conditions(status: Mapping[str, Any]) -> list[Condition]:
    """The stored conditions that can be read."""
    found = []
    for condition in status.get("conditions") or ():
        try:
            found.append(Condition.model_validate(condition))
        except ValidationError:
            continue  # it is written again, with a new time
    return found
