"""The result of each operation of maintenance has the table before and after the run, for the history."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import MagicMock, patch

import pytest

from paimon_contract.job import Job, JobCatalog
from paimon_contract.parameters.analyze import AnalyzeParameters
from paimon_contract.parameters.compact import CompactParameters, CompactThresholds
from paimon_contract.parameters.compact_manifests import CompactManifestsParameters
from paimon_contract.parameters.expire_partitions import ExpirePartitionsParameters
from paimon_contract.parameters.expire_snapshots import ExpireSnapshotsParameters
from paimon_contract.parameters.mark_partitions_done import MarkPartitionsDoneParameters
from paimon_contract.parameters.remove_orphan_files import RemoveOrphanFilesParameters
from paimon_contract.result import Outcome, ResultTable
from paimon_engines.loader import load_engine
from paimon_operator.core.operations.registry import OPERATIONS
from spark_apps.catalog.measure import Measured
from spark_apps.driver.dispatch import operation_of, without_jvm_of
from spark_apps.metadata.volume import VolumeFiles
from tests.spark_apps.jobs import job
from tests.support.whole_table import DAY_S, OWNER, WholeTable

PARAMETERS: dict[str, Any] = {
    "Compact": CompactParameters(strategy="Full", thresholds=CompactThresholds(sorted_runs=99)),
    "ExpirePartitions": ExpirePartitionsParameters(
        expiration_seconds=100_000 * DAY_S, strategy="ValuesTime", timestamp_pattern="2026-11-25"
    ),
    "ExpireSnapshots": ExpireSnapshotsParameters(),
    "MarkPartitionsDone": MarkPartitionsDoneParameters(
        interval_seconds=100_000 * DAY_S, idle_seconds=3_600, timestamp_pattern="2026-11-25"
    ),
    "RemoveOrphanFiles": RemoveOrphanFilesParameters(mode="Report", older_than_seconds=3 * DAY_S),
    "Analyze": AnalyzeParameters(),
    "CompactManifests": CompactManifestsParameters(),
}


def of(root: Path, type_: str) -> Job:
    catalog = JobCatalog(root.as_uri(), "filesystem")
    return job(operation=type_, catalog=catalog, owner=OWNER, parameters=PARAMETERS[type_])


def test_every_operation_of_maintenance_has_a_case() -> None:
    assert set(PARAMETERS) == {each.type for each in OPERATIONS.operations if each.is_held_with_maintenance}


def by_files(root: Path, type_: str) -> Outcome | None:
    """The outcome of a driver that ends without a JVM."""
    WholeTable(root / "shop.db" / "orders").write(2)
    without_jvm = without_jvm_of(operation_of(type_))
    return without_jvm and without_jvm(of(root, type_), load_engine("paimon-1.4"), VolumeFiles())


def by_spark(root: Path, type_: str) -> Outcome | None:
    """The outcome of a driver whose Spark does nothing, and whose table has one manifest less after it."""
    module = operation_of(type_)
    session = MagicMock(engine=load_engine("paimon-1.4"))
    tables = [Measured(ResultTable(schema_id=0, snapshot_id=number, manifests=9 - number)) for number in (1, 2)]
    with (
        patch.object(module, "measure_at_start", side_effect=tables[:1]),
        patch.object(module, "measure_table", side_effect=tables[1:]),
    ):
        return module.run(of(root, type_), session)


@pytest.mark.parametrize("type_", PARAMETERS)
def test_a_result_has_the_table_before_and_after(tmp_path: Path, type_: str) -> None:
    made = by_spark if without_jvm_of(operation_of(type_)) is None else by_files
    outcome = made(tmp_path / "warehouse", type_)
    assert outcome is not None
    for each in (outcome.before, outcome.after):
        assert each is not None
        assert None not in (each.snapshot_id, each.manifests)
