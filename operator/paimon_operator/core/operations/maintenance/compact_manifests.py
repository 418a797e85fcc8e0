"""Merges a table's manifests, the files that list its data files. Data files stay as they are."""

from __future__ import annotations

from typing import Final

from paimon_contract.parameters.compact_manifests import CompactManifestsParameters
from paimon_contract.result import Result
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.core.operations.on_demand import WholeTable
from paimon_operator.core.operations.operation import OperationSpec
from paimon_operator.core.spec.context import TableContext
from paimon_operator.errors import SpecError

TYPE: Final = "CompactManifests"


def job(context: TableContext, run: PaimonRun) -> CompactManifestsParameters:  # noqa: ARG001
    """Nothing to choose. Raises SpecError where the engine has no such procedure."""
    if not context.engine.has_argument("compact_manifest", "table"):
        raise SpecError(
            "spec.type",
            f"the engine {context.engine.id} cannot compact manifests",
            "Use a catalog with a newer engine. Writers merge manifests as they commit.",
            reason=Reason.UNSUPPORTED_BY_ENGINE,
        )
    return CompactManifestsParameters()


def summary(result: Result) -> str:
    """What was done."""
    count = result.table.manifests if result.table is not None else None
    left = "" if count is None else f", the latest snapshot has {count} now"
    return f"manifests were compacted{left}"


OPERATION: Final = OperationSpec(
    type=TYPE, order=42, on_demand=WholeTable(TYPE), job=job, summary=summary, is_maintenance=True
)
