"""Fields of a run's manifest that do not fit its type. The CRD has the same rules in CEL."""

from __future__ import annotations

from collections.abc import Iterator

from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import RunType
from paimon_operator.errors import SpecError


def run_problems(run: PaimonRun) -> Iterator[SpecError]:
    """`write` and `compact` belong to the type of the same name, and that type needs its block."""
    spec = run.spec
    blocks = {"write": (RunType.WRITE, spec.write), "compact": (RunType.COMPACT, spec.compact)}
    for field, (type_, block) in blocks.items():
        if (spec.type is type_) != (block is not None):
            yield SpecError(
                f"spec.{field}", f"the field must be set when type is {type_}, and only then", "Create another run."
            )
