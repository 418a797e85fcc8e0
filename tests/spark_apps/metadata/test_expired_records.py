"""In which partitions a full compaction would remove records by their age."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from paimon_contract.parameters.compact import RecordAge
from paimon_schema.table_schema import TableSchema
from spark_apps.metadata import expired_records
from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.binary_row import partition_values
from spark_apps.metadata.expired_records import partitions_with_expired
from spark_apps.metadata.observation import Observer
from spark_apps.metadata.volume import VolumeFiles
from tests.support.fabricated_avro import FORMATS, DataFile
from tests.support.fabricated_table import FabricatedTable, schema_of

NOW = datetime(2026, 11, 20, tzinfo=UTC)
AGE = RecordAge(seconds=86_400, column="at", in_single_runs=True)
LIMIT = int(NOW.timestamp()) - AGE.seconds
OLD, DUE, KEPT = LIMIT - 1000, LIMIT - 1, LIMIT
"""Seconds of a record's time: the engines remove a record once its time is longer ago than the age."""
Files = Sequence[Mapping[str, Any]]


def with_time(type_: str = "INT", **members: Any) -> TableSchema:
    fields = [
        {"id": 0, "name": "day", "type": "STRING NOT NULL"},
        {"id": 1, "name": "id", "type": "BIGINT NOT NULL"},
        {"id": 2, "name": "at", "type": type_},
    ]
    return schema_of(**{"fields": fields, "highestFieldId": 2} | members)


def mon(time: int | None, **fields: Any) -> Mapping[str, Any]:
    return {"day": "mon", "level": 5, "least": (None, 1, time), **fields}


def tue(time: int | None, **fields: Any) -> Mapping[str, Any]:
    return mon(time, **{"day": "tue"} | fields)


def expired(table: FabricatedTable, schema: TableSchema, age: RecordAge = AGE) -> list[str]:
    observer = Observer(VolumeFiles(), table.location, schema)
    contents = observer.observe().contents
    assert contents is not None
    types = [schema.by_name[name].type for name in schema.partition_keys]
    return sorted(partition_values(each, types)[0] for each in partitions_with_expired(observer, contents, age, NOW))


def committed(root: Path, files: Files, release: str = "1.4") -> FabricatedTable:
    table = FabricatedTable(root, release=release)
    table.commit([DataFile(name=f"f{n}", **each) for n, each in enumerate(files)])
    return table


@pytest.mark.parametrize(
    ("sentence", "files", "in_one_run", "merging_only"),
    [
        ("the oldest record is at the limit", [mon(KEPT)], [], []),
        ("the oldest record is past it", [mon(DUE), tue(KEPT)], ["mon"], []),
        ("one of several files", [mon(KEPT), tue(KEPT), tue(OLD)], ["tue"], []),
        ("another run lies over it", [mon(DUE), mon(KEPT, level=0)], ["mon"], ["mon"]),
        ("the other run is in another bucket", [mon(DUE, bucket=1), mon(KEPT)], ["mon"], []),
        ("its run is below the highest level", [mon(DUE, level=4), tue(DUE, level=0)], ["mon", "tue"], ["mon", "tue"]),
        ("it is not known, and nothing is merged", [mon(None)], [], []),
        ("it is not known, and runs are merged", [mon(None), mon(KEPT, level=0)], ["mon"], ["mon"]),
        ("it is not known, and the run is merged", [mon(None, level=0)], ["mon"], ["mon"]),
        ("other columns have statistics", [mon(DUE, least=(1,), columns=("id",))], [], []),
        ("only this one has", [mon(DUE, least=(DUE,), columns=("at",))], ["mon"], []),
    ],
)  # fmt: skip
def test_partitions_by_their_oldest_records(
    tmp_path: Path, sentence: str, files: Files, in_one_run: list[str], merging_only: list[str]
) -> None:
    """`merging_only`: with an engine that removes records only where it merges files, or does not see statistics."""
    table, schema = committed(tmp_path, files), with_time()
    assert expired(table, schema) == in_one_run, sentence
    assert expired(table, schema, replace(AGE, in_single_runs=False)) == merging_only, sentence
    without_stats = with_time(options={**schema.options, "manifest.delete-file-drop-stats": "TRUE"})
    assert expired(table, without_stats) == merging_only, sentence


@pytest.mark.parametrize(("options", "expected"), [({"num-levels": "3"}, []), ({"num-levels": "4"}, ["mon"])])
def test_the_highest_level_is_that_of_the_table(tmp_path: Path, options: dict[str, str], expected: list[str]) -> None:
    schema = with_time(options={"bucket": "4", **options})
    found = expired(committed(tmp_path, [mon(DUE, level=2)]), schema, replace(AGE, in_single_runs=False))
    assert found == expected


@pytest.mark.parametrize(
    ("type_", "due", "kept"),
    [
        ("BIGINT", DUE, KEPT),
        ("BIGINT", DUE * 1000 + 999, KEPT * 1000),
        ("TIMESTAMP(3)", DUE * 1000 + 999, KEPT * 1000),
        ("TIMESTAMP(3)", DUE * 1000 + 999, 10**15),
        ("TIMESTAMP(3) WITH LOCAL TIME ZONE", DUE * 1000 + 999, KEPT * 1000),
    ],
    ids=["seconds", "milliseconds", "local timestamps", "after the year 9999", "timestamps"],
)
def test_times_of_other_types(tmp_path: Path, type_: str, due: int, kept: int) -> None:
    table = committed(tmp_path, [mon(due), tue(kept)])
    assert expired(table, with_time(type_)) == ["mon"]


def test_the_manifests_of_the_older_release(tmp_path: Path) -> None:
    assert expired(committed(tmp_path, [mon(DUE), tue(KEPT)], release="0.9"), with_time()) == ["mon"]


def test_files_that_were_removed_do_not_count(tmp_path: Path) -> None:
    table = committed(tmp_path, [mon(DUE), tue(DUE)])
    table.commit(remove=["f0"])
    assert expired(table, with_time()) == ["tue"]


def test_a_file_that_has_changed_its_level_counts(tmp_path: Path) -> None:
    table = committed(tmp_path, [mon(DUE, level=0)])
    table.commit([DataFile(name="f0", **mon(DUE))], remove=["f0"])
    assert expired(table, with_time()) == ["mon"]


def test_a_file_of_an_earlier_schema_has_its_own_order_names_and_types(tmp_path: Path) -> None:
    day, id_ = ({"id": number, "name": name, "type": "STRING"} for number, name in enumerate(("day", "id")))
    table = committed(tmp_path, [mon(0, least=(DUE, None, 1)), tue(0, least=(KEPT, None, 1))])
    table.write_schema(fields=[{"id": 2, "name": "was_at", "type": "INT"}, day, id_])
    assert expired(table, with_time("BIGINT", id=1)) == ["mon"]


def test_records_from_before_the_column_never_expire(tmp_path: Path) -> None:
    table = committed(tmp_path, [mon(0, least=(None, 1)), mon(KEPT, level=0, schema=1)])
    table.write_schema()
    assert expired(table, with_time(id=1)) == []


def test_a_file_whose_schema_is_gone_is_like_one_without_statistics(tmp_path: Path) -> None:
    table = committed(tmp_path, [mon(KEPT), mon(KEPT, level=0, schema=1), tue(KEPT)])
    assert expired(table, with_time(id=1)) == ["mon"]


def test_more_entries_than_are_read_in_time_are_left_to_paimon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = committed(tmp_path, [mon(KEPT), tue(KEPT)])
    monkeypatch.setattr(expired_records, "MAX_ENTRIES", 1)
    with pytest.raises(UnreadableError, match="2 entries of manifests are too many"):
        expired(table, with_time())


def test_a_manifest_without_statistics_is_left_to_paimon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(FORMATS["1.4"][0], "_VALUE_STATS")
    with pytest.raises(UnreadableError, match="_VALUE_STATS"):
        expired(committed(tmp_path, [mon(DUE)]), with_time())


@pytest.mark.parametrize(
    ("sentence", "file", "schema"),
    [
        ("a row of other columns", mon(0, least=(1,)), with_time()),
        ("a type that is no time", mon(DUE), with_time("DOUBLE")),
        ("a value that is cut off", mon(DUE << 32), with_time("TIMESTAMP(6)")),
        ("no such column", mon(DUE), schema_of()),
    ],
)
def test_what_only_paimon_can_tell(tmp_path: Path, sentence: str, file: Mapping[str, Any], schema: TableSchema) -> None:
    with pytest.raises(UnreadableError):
        expired(committed(tmp_path, [file]), schema)
    assert sentence
