"""Computes a table's statistics, from which Spark plans its queries. Rows stay as they are."""

from __future__ import annotations

from typing import Final

from paimon_contract.parameters.analyze import AnalyzeParameters
from paimon_contract.result import Result
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.table.facts import TableFacts
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core.operations.on_demand import WholeTable
from paimon_operator.core.operations.operation import InputSize, OperationSpec
from paimon_operator.core.spec.context import TableContext
from paimon_operator.errors import SpecError

TYPE: Final = "Analyze"


def job(context: TableContext, run: PaimonRun) -> AnalyzeParameters:  # noqa: ARG001
    """Nothing to choose. Raises SpecError where the commit would look like that of somebody else."""
    if not context.engine.names_statistics:
        raise SpecError(
            "spec.type",
            f"the engine {context.engine.id} commits statistics under a random name, like a foreign commit",
            "Use a catalog with a newer engine.",
            reason=Reason.UNSUPPORTED_BY_ENGINE,
        )
    return AnalyzeParameters()


def input_size(run: PaimonRun, table: PaimonTable) -> InputSize:  # noqa: ARG001
    """The table's size: all rows are read."""
    facts = table.status.table or TableFacts(identifier="")
    return InputSize(facts.rows, facts.size_bytes, "the table")


def summary(result: Result) -> str:
    """What was done."""
    snapshot = result.table.snapshot_id if result.table is not None else None
    return "there are no rows to analyze" if snapshot is None else f"statistics were computed in snapshot {snapshot}"


OPERATION: Final = OperationSpec(
    type=TYPE,
    order=43,
    on_demand=WholeTable(TYPE),
    job=job,
    summary=summary,
    input_size=input_size,
    is_maintenance=True,
)
