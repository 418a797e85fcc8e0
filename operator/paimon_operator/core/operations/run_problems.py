"""Fields of a run's manifest that do not fit its type. The CRD has the same rules in CEL."""

from __future__ import annotations

from collections.abc import Iterator

from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.core.operations import registry
from paimon_operator.errors import SpecError


def run_problems(run: PaimonRun) -> Iterator[SpecError]:
    """A member belongs to the type of its operation, and that type needs it."""
    given = run.spec.model_extra or {}
    for operation in registry.OPERATIONS.operations:
        field = None if operation.member is None else operation.member.field
        if field is not None and (run.spec.type == operation.type) != (given.get(field) is not None):
            message = f"the field must be set when type is {operation.type}, and only then"
            yield SpecError(f"spec.{field}", message, "Create another run.")
