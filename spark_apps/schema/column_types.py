"""A column's type in Paimon's own JSON form -> Paimon's DataType, read by Paimon itself."""

from __future__ import annotations

import json
from typing import Any

from paimon_contract.parameters.provision import JobColumn
from spark_apps.failures.causes import root_message
from spark_apps.failures.errors import RunError, spec_failure

DATA_TYPE = "org.apache.paimon.types.DataType"


def column_type(column: JobColumn, jvm: Any) -> Any:
    """The DataType (Java) of a column. Raises RunError (Spec) naming its field where this Paimon has no such type."""
    if column.data_type is None:
        message = f"the job of an older operator has no JSON form of the type of column {column.name}"
        raise RunError("Infrastructure", "JobUnreadable", message, "nothing: the next run has it")
    try:
        form = jvm.java.lang.Class.forName(DATA_TYPE)
        return jvm.org.apache.paimon.utils.JsonSerdeUtil.fromJson(json.dumps(column.data_type), form)
    except Exception as error:
        raise spec_failure(
            "InvalidSpec",
            f"Paimon cannot read the type {column.type}: {root_message(error)}",
            "use a type that this engine's Paimon has",
            field=f"spec.schema.columns[{column.name}].type",
        ) from error
