"""What is wrong with an object that does not fit its model: possible only for one stored under another CRD."""

from __future__ import annotations

from pydantic import ValidationError

from paimon_operator.errors import SpecError


def problem_of(error: ValidationError, *, subject: str = "this object") -> SpecError:
    """The first of the problems as field, problem and remedy; never the value, which may be of any length."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    others = error.error_count() - 1
    more = f" (and {others} more)" if others else ""
    return SpecError(
        ".".join(str(part) for part in first["loc"]),
        f"{subject} does not fit the operator's CRDs: {first['msg']}{more}",
        "Bring CRDs and operator to the same version, then apply the manifest again.",
    )
