"""Metadata that is left to a JVM: damaged, newer, or too much. Each has its reason, and none leads to a number."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from spark_apps.metadata import manifests
from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.observation import Observer
from tests.support.fabricated_avro import (
    DataFile,
    avro,
    data_file,
    index_manifest_of,
    listed,
    manifest_list_of,
    manifest_of,
)
from tests.support.fabricated_table import FabricatedTable, schema_of
from tests.support.recorded_files import Recorded

Change = Callable[[FabricatedTable], object]


@pytest.fixture
def table(tmp_path: Path) -> FabricatedTable:
    made = FabricatedTable(tmp_path)
    made.commit([data_file("a")])
    made.commit([data_file("b")], remove=["a"], deleted={"b": 1})
    return made


def observe(table: FabricatedTable, **options: str) -> None:
    Observer(Recorded(), table.location, schema_of(options=options)).observe()


def edit_snapshot(table: FabricatedTable, **members: object) -> None:
    file = table.snapshot_file(2)
    file.write_text(json.dumps(json.loads(file.read_text()) | members))


def named(table: FabricatedTable, member: str) -> Path:
    """A file of the manifest directory that the latest snapshot names."""
    return table.root / "manifest" / str(json.loads(table.snapshot_file(2).read_text())[member])


def cut(file: Path, end: int) -> None:
    file.write_bytes(file.read_bytes()[:end])


def list_as(table: FabricatedTable, listed_entries: list[tuple[int, DataFile]], name: str | None = None) -> None:
    """The latest manifest, whose list says that it has other entries or another name."""
    file = table.manifests()[-1]
    record = listed(name or file.name, file.read_bytes(), listed_entries)
    named(table, "deltaManifestList").write_bytes(manifest_list_of([record]))


def write_manifest(table: FabricatedTable, entries: list[tuple[int, DataFile]], version: int = 2) -> None:
    """The latest manifest with other entries, and a list that fits."""
    content = manifest_of(entries, "1.4", version)
    table.manifests()[-1].write_bytes(content)
    record = listed(table.manifests()[-1].name, content, entries)
    named(table, "deltaManifestList").write_bytes(manifest_list_of([record]))


A, B = data_file("a"), data_file("b")
UNREADABLE: dict[str, tuple[Change, str]] = {
    "a snapshot of a newer version": (lambda t: edit_snapshot(t, version=4), "version 4 of snapshot files is newer"),
    "a snapshot that is no JSON": (lambda t: cut(t.snapshot_file(2), 30), "snapshot-2: JSONDecodeError"),
    "an empty snapshot": (lambda t: cut(t.snapshot_file(2), 0), "snapshot-2: JSONDecodeError"),
    "a snapshot that is no object": (lambda t: t.snapshot_file(2).write_text("[]"), "snapshot-2: AttributeError"),
    "a snapshot without a member": (lambda t: t.snapshot_file(2).write_text('{"id": 2}'), "KeyError: 'schemaId'"),
    "another snapshot": (lambda t: edit_snapshot(t, id=7), "snapshot-2 holds snapshot 7"),
    "a list outside of the table": (lambda t: edit_snapshot(t, baseManifestList="../../x"), "no name of a file"),
    "an index outside of the table": (lambda t: edit_snapshot(t, indexManifest=".."), "no name of a file"),
    "a count of rows that the manifests do not have": (
        lambda t: edit_snapshot(t, totalRecordCount=11),
        "snapshot 2 has 11 rows, its manifests have 10",
    ),
    "a list twice": (
        lambda t: edit_snapshot(t, deltaManifestList=named(t, "baseManifestList").name),
        "has manifest manifest-1 twice",
    ),
    "a snapshot that does not count its rows": (
        lambda t: edit_snapshot(t, totalRecordCount=None),
        "snapshot 2 has None rows",
    ),
    "a list of another size": (lambda t: edit_snapshot(t, deltaManifestListSize=7), "bytes of 7"),
    "a manifest that is cut off": (lambda t: cut(t.manifests()[-1], 100), "has 100 bytes of"),
    "a manifest that is cut off between two blocks": (lambda t: list_as(t, [(1, A), (0, B), (0, B)]), "other entries"),
    "more files removed than listed": (lambda t: list_as(t, [(0, A), (0, B)]), "has other entries than its list says"),
    "a manifest outside of the table": (lambda t: list_as(t, [(1, A), (0, B)], "../x"), "no name of a file"),
    "a manifest of a newer version": (lambda t: write_manifest(t, [(1, A), (0, B)], 3), "version 3, newer than 2"),
    "a file removed that was never added": (
        lambda t: write_manifest(t, [(1, data_file("z", bucket=9)), (0, data_file("y"))]),
        "remove a file that they do not add",
    ),
    "an unknown kind of change": (lambda t: write_manifest(t, [(7, A), (0, B)]), "an entry of kind 7"),
    "an empty list": (lambda t: cut(named(t, "deltaManifestList"), 0), "is no Avro file"),
    "a list that is cut off": (lambda t: cut(named(t, "deltaManifestList"), -5), "is no Avro file"),
    "a list that is ORC": (lambda t: named(t, "baseManifestList").write_bytes(b"ORC" * 99), "is no Avro file"),
    "an index manifest that is cut off": (lambda t: cut(named(t, "indexManifest"), 99), "is no Avro file"),
    "an index manifest of a newer version": (
        lambda t: named(t, "indexManifest").write_bytes(index_manifest_of({"b": 1}, "1.4", version=2)),
        "records of version 2, newer than 1",
    ),
    "an index that was removed": (
        lambda t: named(t, "indexManifest").write_bytes(index_manifest_of({"b": 1}, "1.4", kind=1)),
        "has an entry of kind 1",
    ),
    "a list with other fields": (
        lambda t: named(t, "baseManifestList").write_bytes(
            avro({"type": "record", "name": "r", "fields": [{"name": "_VERSION", "type": "int"}]}, [])
        ),
        "has no field _FILE_NAME",
    ),
}


@pytest.mark.parametrize(("change", "reason"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_for_sure_is_left_to_the_jvm(table: FabricatedTable, change: Change, reason: str) -> None:
    change(table)
    with pytest.raises(UnreadableError, match=reason):
        observe(table)


@pytest.mark.parametrize("option", ["orc", "Parquet"])
def test_manifests_of_another_format_are_not_read(table: FabricatedTable, option: str) -> None:
    with pytest.raises(UnreadableError, match=f"the format of its manifests is '{option}'"):
        observe(table, **{"manifest.format": option})
    observe(table, **{"manifest.format": "AVRO"})


def test_a_target_size_that_is_none_is_not_guessed(table: FabricatedTable) -> None:
    with pytest.raises(UnreadableError, match="target-file-size 'big' is no size"):
        observe(table, **{"target-file-size": "big"})


@pytest.mark.parametrize("cap", ["MAX_MANIFESTS", "MAX_TOTAL_BYTES"])
def test_too_many_manifests_are_left_to_the_jvm(
    table: FabricatedTable, cap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = sum(file.stat().st_size for file in table.manifests())
    enough = {"MAX_MANIFESTS": 2, "MAX_TOTAL_BYTES": size}[cap]
    monkeypatch.setattr(manifests, cap, enough)
    observe(table)
    monkeypatch.setattr(manifests, cap, enough - 1)
    with pytest.raises(UnreadableError, match=f"2 manifests of {size} bytes are too many to read without a JVM"):
        observe(table)


def test_a_manifest_that_is_too_large_is_left_to_the_jvm(
    table: FabricatedTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    largest = max(file.stat().st_size for file in (table.root / "manifest").iterdir())
    monkeypatch.setattr(manifests, "MAX_MANIFEST_BYTES", largest - 1)
    with pytest.raises(UnreadableError, match=f"more than {largest - 1} bytes"):
        observe(table)
    monkeypatch.setattr(manifests, "MAX_MANIFEST_BYTES", largest)
    observe(table)


def test_a_row_count_is_of_the_latest_snapshot_alone(table: FabricatedTable) -> None:
    edited = json.loads(table.snapshot_file(1).read_text()) | {"totalRecordCount": None}
    table.snapshot_file(1).write_text(json.dumps(edited))
    observe(table)
