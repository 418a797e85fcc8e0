"""A column's type in Paimon's own JSON form -> Paimon's DataType, read by Paimon itself."""

from __future__ import annotations

import json
from typing import Any

from paimon_contract.parameters.provision import JobColumn
from spark_apps.failures.causes import root_message
from spark_apps.failures.errors import RunError, spec_failure

DATA_TYPE = "org.apache.paimon.types.DataType"


def column_type(column: JobColumn, jvm: Any) -> Any:
    """The DataType (Java) of a column.

    Raises RunError: Spec, naming the field, where this Paimon has no such type; Environment as `json_form`.
    """
    text = json.dumps(json_form(column))
    try:
        return java_type(text, jvm)
    except Exception as error:
        raise spec_failure(
            "InvalidSpec",
            f"Paimon cannot read the type {column.type}: {root_message(error)}",
            "use a type that this engine's Paimon has",
            field=f"spec.schema.columns[{column.name}].type",
        ) from error


def java_type(text: str, jvm: Any) -> Any:
    """The DataType (Java) from the text of its JSON form. Raises Py4JJavaError where this Paimon has no such type."""
    return jvm.org.apache.paimon.utils.JsonSerdeUtil.fromJson(text, jvm.java.lang.Class.forName(DATA_TYPE))


def json_form(column: JobColumn) -> object:
    """The type in Paimon's JSON form. A type without nested types has its text as its form.

    Raises RunError for a nested type in a job of release 0.1, which has texts only. The job of a run never changes, so
    the run ends, and the next run of the table has a job of this release.
    """
    if column.data_type is not None:
        return column.data_type
    if "<" in column.type:
        message = f"the job of an older operator has no JSON form of the type of column {column.name}"
        raise RunError("Environment", "JobUnreadable", message, "nothing: the table starts another run")
    return column.type
