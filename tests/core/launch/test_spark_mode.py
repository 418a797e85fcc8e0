"""The effective mode of a run and its reason. In mode Auto it depends on the size of the input."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.api.run.spark import RunSpark
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.spark import SparkMode
from paimon_operator.api.table.effective import EffectiveMode, Origin
from paimon_operator.api.table.facts import TableFacts
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import TableStatus, WriteState
from paimon_operator.core.config import Defaults
from paimon_operator.core.launch.spark_mode import execution, is_long
from tests.support import builders

FULL: dict[str, Any] = {"type": "Compact", "compact": {"strategy": "Full"}}
MINOR: dict[str, Any] = {"type": "Compact", "compact": {"strategy": "Minor"}}
IMPORT: dict[str, Any] = {"type": "Write", "compact": None, "write": {"name": "import"}}
MILLION, GIB = 1_000_000, 1 << 30


def a_run(name: str = "orders-1", **spec: Any) -> PaimonRun:
    return builders.run(name, table=builders.table(), **spec)


def a_table(rows: int | None = None, size: int | None = None, **loads: int) -> PaimonTable:
    facts = TableFacts(identifier="shop.orders", rows=rows, size_bytes=size)
    writes = tuple(WriteState(name=name, rows=count) for name, count in loads.items())
    return builders.table(status=TableStatus(table=facts, writes=writes))


def decided(
    run: PaimonRun, table: PaimonTable, mode: SparkMode = SparkMode.AUTO, *, accounts_unknown: bool = False
) -> RunSpark:
    asked_for = EffectiveMode(mode=mode, source=Origin.CATALOG)
    return execution(run, table, asked_for, Defaults(), accounts_unknown=accounts_unknown)


@pytest.mark.parametrize(
    ("sentence", "spec", "table", "mode"),
    [
        ("a full compaction of few rows", FULL, a_table(MILLION, GIB // 2), "Local"),
        ("of one row less than the limit", FULL, a_table(10 * MILLION - 1), "Local"),
        ("of as many as the limit", FULL, a_table(10 * MILLION), "Cluster"),
        ("of few rows that are large", FULL, a_table(1000, GIB), "Cluster"),
        ("of a table that nobody has measured", FULL, a_table(), "Local"),
        ("a minor compaction after small loads into a large table", MINOR, a_table(100 * MILLION, 9 * GIB, imports=MILLION), "Local"),
        ("a minor compaction after large loads", MINOR, a_table(100 * MILLION, more=6 * MILLION, imports=4 * MILLION), "Cluster"),
        ("a minor compaction of what others write", MINOR, a_table(100 * MILLION, 9 * GIB), "Local"),
        ("a write whose last load was large", IMPORT, a_table(**{"import": 10 * MILLION}), "Cluster"),
        ("a write whose last load was small, into a large table", IMPORT, a_table(100 * MILLION, **{"import": 1}), "Local"),
        ("a write that has never loaded, beside one that loads much", IMPORT, a_table(other=20 * MILLION), "Local"),
    ],
)  # fmt: skip
def test_auto_selects_the_mode_by_the_size_of_the_input(
    sentence: str, spec: dict[str, Any], table: PaimonTable, mode: str
) -> None:
    assert decided(a_run(**spec), table).mode == mode, sentence


def test_auto_reports_the_size_that_it_used() -> None:
    said = decided(a_run(**FULL), a_table(20 * MILLION, 5)).message
    assert said == (
        "mode Auto (Catalog): the table had 20000000 rows and 5 bytes, "
        "not below the limit of 10000000 rows or 1073741824 bytes"
    )
    assert decided(a_run(**IMPORT), a_table()).message == (
        "mode Auto (Catalog): nothing is known of the last load of write import yet"
    )


@pytest.mark.parametrize("mode", SparkMode)
@pytest.mark.parametrize("type_", ["Provision", "ExpireSnapshots", "Drop"])
def test_operations_on_metadata_are_always_local(mode: SparkMode, type_: str) -> None:
    found = decided(a_run(type=type_, compact=None), a_table(100 * MILLION), mode)
    assert (found.mode, found.message) == ("Local", f"{type_} has no work for executors")


@pytest.mark.parametrize("mode", [SparkMode.LOCAL, SparkMode.CLUSTER])
def test_an_explicit_mode_applies_to_any_size(mode: SparkMode) -> None:
    assert {decided(a_run(**FULL), a_table(rows), mode).mode for rows in (1, 100 * MILLION)} == {mode}


def test_a_run_with_an_attempt_keeps_its_mode() -> None:
    begun = a_run(**FULL, status={"spark": {"mode": "Local", "message": "small"}})
    assert decided(begun, a_table(100 * MILLION)).mode == "Local"
    assert decided(begun, a_table(), SparkMode.CLUSTER).message == "small"


@pytest.mark.parametrize("mode", ["Auto", "Cluster"])
def test_storage_with_pod_identity_has_no_executors_under_an_unknown_account(mode: str) -> None:
    """The storage would refuse them or accept them as their node."""
    found = decided(a_run(**FULL), a_table(100 * MILLION), SparkMode(mode), accounts_unknown=True)
    assert found.mode == "Local"
    assert found.message == (
        f"mode {mode} (Catalog): the storage goes by the pods' account, "
        "so executors need serviceAccountName and driverServiceAccountName in the catalog's spec.spark"
    )


@pytest.mark.parametrize(
    ("name", "mode"),
    [("o" * 49, "Cluster"), ("o" * 50, "Local"), ("o" * 62, "Local"), ("orders.compact", "Local")],
)
def test_a_run_whose_pods_have_another_name_has_no_executors(name: str, mode: str) -> None:
    """The admission policy could not match such executors to their run, in any attempt."""
    found = decided(a_run(name, **FULL), a_table(), SparkMode.CLUSTER)
    assert (found.mode, "name" in found.message) == (mode, mode == "Local")


@pytest.mark.parametrize(
    ("sentence", "spec", "rows", "mode", "long"),
    [
        ("a million rows are compiled for a short run", FULL, MILLION, "Local", False),
        ("five million for a long one", FULL, 5 * MILLION, "Local", True),
        ("with executors always", FULL, 1, "Cluster", True),
        ("nothing is known", FULL, None, "Local", False),
        ("metadata of a large table", {"type": "ExpireSnapshots", "compact": None}, 50 * MILLION, "Local", False),
    ],
)  # fmt: skip
def test_what_the_driver_compiles_for(
    sentence: str, spec: dict[str, Any], rows: int | None, mode: str, long: bool
) -> None:
    where = RunSpark(mode=SparkMode(mode), message="")
    assert is_long(a_run(**spec), a_table(rows), where, Defaults()) is long, sentence
