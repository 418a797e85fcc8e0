"""Column types in jobs of release 0.1, which lack the JSON form of types."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from paimon_contract.parameters.provision import JobColumn
from paimon_schema.paimon_json import paimon_json
from paimon_schema.type_parser import parse
from spark_apps.failures.errors import RunError
from spark_apps.schema.column_types import column_type


def paimon() -> Any:
    """A JVM whose Paimon returns the JSON that it reads."""
    lang = SimpleNamespace(Class=SimpleNamespace(forName=lambda name: name))
    utils = SimpleNamespace(JsonSerdeUtil=SimpleNamespace(fromJson=lambda text, _: json.loads(text)))
    return SimpleNamespace(
        java=SimpleNamespace(lang=lang),
        org=SimpleNamespace(apache=SimpleNamespace(paimon=SimpleNamespace(utils=utils))),
    )


@pytest.mark.parametrize("text", ["BIGINT NOT NULL", "DECIMAL(12,2)", "STRING", "TIMESTAMP_LTZ(3)", "BYTES"])
def test_a_type_without_nested_types_is_its_own_json_form(text: str) -> None:
    old, new = JobColumn("c", text), JobColumn("c", text, data_type=paimon_json(parse(text)))
    assert column_type(old, paimon()) == column_type(new, paimon()) == text


@pytest.mark.parametrize("text", ["ARRAY<INT>", "MAP<STRING, INT> NOT NULL", "ROW<a INT>", "MULTISET<INT>"])
def test_an_old_job_with_a_nested_type_ends_its_run_at_once(text: str) -> None:
    with pytest.raises(RunError) as error:
        column_type(JobColumn("items", text), paimon())
    # Every attempt reads the same job, so a retry fails too; the table starts another run.
    assert (error.value.kind, error.value.reason) == ("Environment", "JobUnreadable")
    assert "items" in str(error.value)
