"""The partitions of a compaction as SQL, in batches."""

from __future__ import annotations

import struct
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from paimon_contract.job import JobCatalog
from paimon_contract.parameters.compact import CompactParameters, CompactThresholds, RecordAge
from paimon_contract.parameters.verification import VerifyParameters
from paimon_engines.loader import load_engine
from paimon_schema.table_schema import TableSchema, schema_file_of
from spark_apps.catalog.compaction_scope import PER_CALL, Batch, Scope, scope_of
from spark_apps.catalog.verification import tag_name
from spark_apps.metadata.table_files import TableFiles
from spark_apps.metadata.volume import VolumeFiles
from spark_apps.operations import compact
from tests.spark_apps.jobs import job
from tests.support import fabricated_avro
from tests.support.fabricated_avro import DataFile
from tests.support.fabricated_table import FabricatedTable, schema_document, schema_of

ONE_RUN = CompactThresholds(sorted_runs=1)


def scope(root: Path, schema: TableSchema, *files: DataFile) -> Scope:
    """What a compaction of these files covers, with a threshold that all reach."""
    table = FabricatedTable(root / "shop.db" / "orders")
    table.commit(files)
    return scope_of(of(root, ONE_RUN), VolumeFiles(), schema, ONE_RUN, None)


def of(root: Path, thresholds: CompactThresholds | None, idle: str | None = None) -> Any:
    parameters = CompactParameters(strategy="Full", thresholds=thresholds, partition_idle_time=idle)
    return job(catalog=JobCatalog(root.as_uri(), "filesystem"), parameters=parameters)


def test_a_batch_names_its_partitions_by_literals(tmp_path: Path) -> None:
    days = [DataFile(name="a", day="it's"), DataFile(name="b", day="tue"), DataFile(name="c", day=None)]
    (batch,) = scope(tmp_path, schema_of(), *days).batches(by_small_files=False)
    assert batch.condition == "(`day` = 'it\\'s') OR (`day` = 'tue') OR (`day` IS NULL)"


def test_many_partitions_are_several_batches_the_worst_first(tmp_path: Path) -> None:
    files = [DataFile(name=f"f{n}", day=f"{n:03}") for n in range(PER_CALL + 1)]
    found = scope(tmp_path, schema_of(), *files, DataFile(name="worst", day=f"{PER_CALL:03}"))
    conditions = [each.condition or "" for each in found.batches(by_small_files=False)]
    assert [each.count("=") for each in conditions] == [PER_CALL, 1]
    assert conditions[0].startswith(f"(`day` = '{PER_CALL:03}')")


def test_batches_by_the_number_of_small_files(tmp_path: Path) -> None:
    days = "mmmttw"
    files = [DataFile(name=f"f{n}", day=day, size=1) for n, day in enumerate(days)]
    found = scope(tmp_path, schema_of(), *files).batches(by_small_files=True)
    assert [(each.condition, each.small_files) for each in found] == [
        ("(`day` = 'm')", 3),
        ("(`day` = 't')", 2),
        ("(`day` = 'w')", 0),
    ]


def test_a_table_without_partitions_is_one_batch_of_all_rows(tmp_path: Path) -> None:
    found = scope(tmp_path, schema_of(partitionKeys=[]), DataFile(name="a"))
    assert len(found.partitions) == 1
    assert found.batches(by_small_files=False) == [Batch(None)]


def test_partitions_by_a_type_that_sql_cannot_name_are_one_batch_of_all_rows(tmp_path: Path) -> None:
    fields = [{"id": 0, "name": "day", "type": "DECIMAL(4, 2) NOT NULL"}]
    found = scope(tmp_path, schema_of(fields=fields, primaryKeys=["day"]), DataFile(name="a"))
    assert found.partitions
    assert found.batches(by_small_files=False) == [Batch(None)]


@pytest.mark.parametrize(
    ("type_", "value"),
    [("DOUBLE", struct.pack("<d", 1.5)), ("DATE", struct.pack("<ii", 2932897, 0))],
    ids=["a type that is not decoded", "a day after the year 9999"],
)
def test_partitions_that_cannot_be_decoded_are_one_batch_of_all_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, type_: str, value: bytes
) -> None:
    monkeypatch.setattr(fabricated_avro, "binary_row", lambda *_: struct.pack(">i", 1) + bytes(8) + value)
    fields = [{"id": 0, "name": "day", "type": f"{type_} NOT NULL"}]
    found = scope(tmp_path, schema_of(fields=fields, primaryKeys=["day"]), DataFile(name="a"))
    assert found.batches(by_small_files=False) == [Batch(None)]


@pytest.mark.parametrize("options", [{"paimon-operator.owner": "another"}, {"bucket": "8"}])
def test_a_table_that_is_not_as_verified_is_left_to_the_jvm(tmp_path: Path, options: dict[str, str]) -> None:
    table = FabricatedTable(tmp_path / "shop.db" / "orders")
    table.commit([DataFile(name="a")])
    known = {"bucket": "4", "paimon-operator.owner": "o"} | options
    (table.root / "schema").mkdir()
    (table.root / "schema" / "schema-0").write_text(schema_file_of(schema_of(options=known)))
    of_it = replace(of(tmp_path, CompactThresholds(sorted_runs=9)), bucket_count=4)
    assert compact.without_jvm(of_it, load_engine("paimon-1.4"), VolumeFiles()) is None


def test_without_a_partition_in_need_there_is_no_batch(tmp_path: Path) -> None:
    table = FabricatedTable(tmp_path / "shop.db" / "orders")
    table.commit([DataFile(name="a")])
    found = scope_of(of(tmp_path, ONE_RUN), VolumeFiles(), schema_of(), CompactThresholds(sorted_runs=2), None)
    assert found.batches(by_small_files=False) == []


NOON = datetime(2026, 11, 25, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def test_partitions_that_received_a_file_since_are_left(tmp_path: Path) -> None:
    made = {"idle": NOON - SECOND, "at the limit": NOON, "unknown": None}
    table = FabricatedTable(tmp_path / "shop.db" / "orders")
    table.commit([DataFile(name=day, day=day, made=at) for day, at in made.items()])
    table.commit([DataFile(name="earlier", day="at the limit", made=NOON - SECOND)])
    found = scope_of(of(tmp_path, ONE_RUN), VolumeFiles(), schema_of(), ONE_RUN, NOON)
    (batch,) = found.batches(by_small_files=False)
    assert batch.condition == "(`day` = 'idle') OR (`day` = 'unknown')"


def test_a_file_that_was_removed_counts_as_in_paimon(tmp_path: Path) -> None:
    table = FabricatedTable(tmp_path / "shop.db" / "orders")
    table.commit([DataFile(name="stays", made=NOON - SECOND), DataFile(name="goes", made=NOON)])
    table.commit([], remove=["goes"])
    assert scope_of(of(tmp_path, ONE_RUN), VolumeFiles(), schema_of(), ONE_RUN, NOON).partitions == ()


@pytest.mark.parametrize(("idle", "ends"), [("1 h", True), ("1 min", False)])
def test_the_driver_ends_without_a_jvm_where_no_partition_in_need_is_idle(
    tmp_path: Path, idle: str, *, ends: bool
) -> None:
    table = FabricatedTable(tmp_path / "shop.db" / "orders")
    table.commit([DataFile(name="a", made=datetime.now(UTC) - timedelta(minutes=30))])
    (table.root / "schema").mkdir()
    options = {"bucket": "4", "paimon-operator.owner": "o"}
    (table.root / "schema" / "schema-0").write_text(schema_file_of(schema_of(options=options)))
    outcome = compact.without_jvm(of(tmp_path, ONE_RUN, idle), load_engine("paimon-1.4"), VolumeFiles())
    assert (outcome is not None) is ends


@pytest.mark.parametrize(
    ("sentence", "thresholds", "ends"),
    [
        ("no partition reaches a threshold", CompactThresholds(sorted_runs=9), True),
        ("one does", ONE_RUN, False),
        ("a user's run has no thresholds", None, False),
    ],
)
def test_the_driver_ends_without_a_jvm_where_nothing_is_needed(
    tmp_path: Path, sentence: str, thresholds: CompactThresholds | None, ends: bool
) -> None:
    table = FabricatedTable(tmp_path / "shop.db" / "orders")
    table.commit([DataFile(name="a"), DataFile(name="b")])
    schema_file = table.root / "schema" / "schema-0"
    schema_file.parent.mkdir()
    options = {"bucket": "4", "target-file-size": "100 b", "paimon-operator.owner": "o"}
    schema_file.write_text(schema_file_of(schema_of(options=options)))
    outcome = compact.without_jvm(of(tmp_path, thresholds), load_engine("paimon-1.4"), VolumeFiles())
    assert (outcome is not None) is ends, sentence
    if outcome is not None:
        assert outcome.compacted_partitions == 0
        assert outcome.table is not None
        assert (outcome.table.files, outcome.table.sorted_runs_max) == (2, 2)
        assert outcome.before == outcome.after


AT = {"id": 2, "name": "at", "type": "INT"}
RECORDS = CompactThresholds(sorted_runs=2, records=RecordAge(seconds=86_400, column="at", in_single_runs=True))
YOUNG, OLD = 2_000_000_000, 1000
"""Seconds since 1970: times of records."""


def with_records(root: Path, *, merged: str = "", **oldest: int) -> FabricatedTable:
    """A table with one sorted run for each day, whose oldest record is of that time. `merged` is a day with two."""
    fields = [*schema_document()["fields"], AT]
    table = FabricatedTable(root / "shop.db" / "orders")
    made = datetime.now(UTC) - timedelta(minutes=30)
    files = [DataFile(name=day, day=day, level=5, least=(None, 1, time), made=made) for day, time in oldest.items()]
    table.commit([*files, *([DataFile(name="new", day=merged, least=(None, 1, YOUNG), made=made)] if merged else [])])
    table.write_schema(fields=fields, options={"bucket": "4", "paimon-operator.owner": "o"})
    return table


@pytest.mark.parametrize(
    ("sentence", "oldest", "parameters", "ends"),
    [
        ("every record is young", YOUNG, (RECORDS,), True),
        ("one is too old", OLD, (RECORDS,), False),
        ("its partition is not idle", OLD, (RECORDS, "1 h"), True),
        ("records do not expire", OLD, (replace(RECORDS, records=None),), True),
    ],
)
def test_the_driver_starts_a_jvm_only_where_a_record_is_too_old(
    tmp_path: Path, sentence: str, oldest: int, parameters: tuple[Any, ...], ends: bool
) -> None:
    with_records(tmp_path, a=YOUNG, b=oldest)
    outcome = compact.without_jvm(of(tmp_path, *parameters), load_engine("paimon-1.4"), VolumeFiles())
    assert (outcome is not None) is ends, sentence


def test_partitions_with_old_records_come_after_those_that_reach_a_threshold(tmp_path: Path) -> None:
    table = with_records(tmp_path, merged="m", a=OLD, m=OLD, b=YOUNG)
    schema = TableFiles(VolumeFiles(), table.location).latest_schema()
    assert schema is not None
    found = scope_of(of(tmp_path, RECORDS), VolumeFiles(), schema, RECORDS, None)
    (batch,) = found.batches(by_small_files=False)
    assert batch.condition == "(`day` = 'm') OR (`day` = 'a')"
    assert found.only_for_records == 1, "m reaches a threshold"


@pytest.mark.parametrize(
    ("sentence", "run", "ends"),
    [("of this run", "run-uid", False), ("of another run", "other-uid", True)],
)
def test_a_tag_with_which_an_attempt_has_found_changed_rows_is_reported_with_a_jvm(
    tmp_path: Path, sentence: str, run: str, *, ends: bool
) -> None:
    """The attempt has rolled the table back and was killed before its report."""
    table = FabricatedTable(tmp_path / "shop.db" / "orders")
    table.commit([DataFile(name="a")])
    table.tag(tag_name(run, 1), 1)
    (table.root / "schema").mkdir()
    options = {"bucket": "4", "paimon-operator.owner": "o"}
    (table.root / "schema" / "schema-0").write_text(schema_file_of(schema_of(options=options)))
    of_it = of(tmp_path, CompactThresholds(sorted_runs=9))
    verify = replace(of_it.parameters_as(CompactParameters), verify=VerifyParameters(whole=True, rolls_back=True))
    of_it = replace(of_it, parameters=verify, commit_user="run-uid", since_snapshot=1)
    outcome = compact.without_jvm(of_it, load_engine("paimon-1.4"), VolumeFiles())
    assert (outcome is not None) is ends, sentence


def test_without_a_table_the_jvm_says_what_is_wrong(tmp_path: Path) -> None:
    assert compact.without_jvm(of(tmp_path, ONE_RUN), load_engine("paimon-1.4"), VolumeFiles()) is None
