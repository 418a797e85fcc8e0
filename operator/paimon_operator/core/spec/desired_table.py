"""The desired table in Paimon, derived from a manifest, and a hash that shows whether an edit changed it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Any, Final

from paimon_contract.parameters.provision import JobColumn, ProvisionParameters
from paimon_operator.api.table.columns import Column
from paimon_operator.api.table.spec import PaimonTableSpec
from paimon_operator.api.table.status import Effective
from paimon_operator.core.spec import data_types
from paimon_operator.core.spec.paimon_options import table_options

HASH_LENGTH: Final = 16


def desired_table(spec: PaimonTableSpec, effective: Effective) -> ProvisionParameters:
    """The desired table. Raises TypeTextError for an invalid type."""
    schema = spec.table_schema
    columns = (_column(each, each.name in schema.primary_keys) for each in schema.columns)
    return ProvisionParameters(
        columns=tuple(columns),
        primary_keys=schema.primary_keys,
        partition_keys=schema.partition_keys,
        comment=schema.comment or "",
        options=table_options(spec, effective),
        adoption=spec.adoption_policy,
    )


def fingerprint(table: ProvisionParameters) -> str:
    """Hash of the desired table. It excludes the adoption policy, sizes, schedules and writes."""
    document = asdict(table)
    del document["adoption"]
    for column in document["columns"]:
        del column["data_type"]  # says the same as `type`
    return digest(document)


def digest(document: Any) -> str:
    """Hash of a JSON document: equal for equal documents, however their keys are ordered."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]


def _column(column: Column, is_key: bool) -> JobColumn:
    text = _stored_type(column.type, is_key)
    form = data_types.paimon_json(data_types.parse(text))
    return JobColumn(name=column.name, type=text, comment=column.comment, data_type=form)


def _stored_type(text: str, is_key: bool) -> str:
    """The type as Paimon will store it: primary key columns are NOT NULL by themselves."""
    written = data_types.canonical(text)
    return written + data_types.NOT_NULL if is_key and not written.endswith(data_types.NOT_NULL) else written
