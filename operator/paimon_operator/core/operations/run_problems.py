"""Fields of a run's manifest that do not fit its type. The CRD has the same rules in CEL."""

from __future__ import annotations

from collections.abc import Iterator

from paimon_operator.api import units
from paimon_operator.api.base import LONGEST_DEADLINE_D, LONGEST_DURATION_D
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.core.operations import registry
from paimon_operator.core.spec.size import size_of
from paimon_operator.errors import SpecError


def run_problems(run: PaimonRun) -> Iterator[SpecError]:
    """A spec has a largest size, a duration a longest value. A member belongs to its type, which needs it."""
    yield from size_of(run.spec)
    yield from units.too_long(run.spec.active_deadline, LONGEST_DEADLINE_D, field="spec.activeDeadline")
    yield from units.too_long(run.spec.ttl_after_finished, LONGEST_DURATION_D, field="spec.ttlAfterFinished")
    given = run.spec.model_extra or {}
    for operation in registry.OPERATIONS.operations:
        field = None if operation.member is None else operation.member.field
        if field is not None and (run.spec.type == operation.type) != (given.get(field) is not None):
            message = f"the field must be set when type is {operation.type}, and only then"
            yield SpecError(f"spec.{field}", message, "Create another run.")
