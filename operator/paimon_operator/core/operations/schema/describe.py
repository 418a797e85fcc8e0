"""The description of all tables of a catalog, from which `python -m paimon_operator.export` makes manifests.

It is a run of one of the catalog's tables, because everything about a run hangs on a table: its turn, its rights, its
history. It changes nothing, and reads the schemas of the databases only that the catalog allows to its tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from paimon_contract.documents import to_text
from paimon_contract.parameters.describe import DescribeParameters
from paimon_contract.result import Result
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.core.operations.on_demand import WholeTable
from paimon_operator.core.operations.operation import OperationSpec
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.identity import allowed_databases

TYPE: Final = "Describe"


def job(context: TableContext, run: PaimonRun) -> DescribeParameters:  # noqa: ARG001
    """The catalog as its manifest has it, and its databases."""
    catalog = context.catalog
    manifest = {
        "metadata": {"name": catalog.metadata.name, "namespace": catalog.metadata.namespace},
        "spec": catalog.spec.to_json(),
    }
    return DescribeParameters(catalog=to_text(manifest), databases=allowed_databases(catalog))


def status_fields(result: Result) -> Mapping[str, Any]:
    """How many tables there are."""
    return {"described": result.described}


def summary(result: Result) -> str:
    """What was done."""
    return f"the log describes {result.described or 0} tables"


OPERATION: Final = OperationSpec(
    type=TYPE,
    order=47,
    on_demand=WholeTable(TYPE),
    job=job,
    summary=summary,
    status_fields=status_fields,
    only_reads=True,
)
