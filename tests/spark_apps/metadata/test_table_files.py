"""The schemas of a table from its files on a volume, and which files are left to a JVM."""

from __future__ import annotations

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from paimon_contract.job import JobCatalog
from paimon_engines.loader import load_engine
from spark_apps import metadata
from spark_apps.metadata import files_of
from spark_apps.metadata.base import MAX_BYTES, MetadataFiles, UnreadableError
from spark_apps.metadata.table_files import MAX_PROBES, TableFiles, location_of
from spark_apps.metadata.volume import VolumeFiles
from tests.spark_apps.jobs import job
from tests.support.recorded_files import Recorded

ENGINE = load_engine("paimon-1.4")


def text_of(id_: int, **members: Any) -> str:
    usual = {
        "version": 3,
        "id": id_,
        "fields": [{"id": 0, "name": "id", "type": "BIGINT NOT NULL"}],
        "highestFieldId": 0,
        "partitionKeys": [],
        "primaryKeys": ["id"],
        "options": {"bucket": "4"},
        "comment": "",
        "timeMillis": 1700000000000 + id_,
    }
    return json.dumps(usual | members)


def table(root: Path, *ids: int, files: MetadataFiles | None = None) -> TableFiles:
    """A table with schemas of these ids."""
    (root / "schema").mkdir()
    for id_ in ids:
        (root / "schema" / f"schema-{id_}").write_text(text_of(id_))
    return TableFiles(files or VolumeFiles(), f"file://{root}")


LATEST = {
    "the only schema": ((0,), None, 0, ["schema/", "schema-0"]),
    "numbers are not words": ((0, 9, 10), None, 10, ["schema/", "schema-10"]),
    "nothing has changed": ((0, 1), 1, 1, ["schema-2", "schema-1"]),
    "one edit": ((0, 1), 0, 1, ["schema-1", "schema-2"]),
    "another table took its place": ((0,), 3, 0, ["schema-4", "schema-3", "schema/", "schema-0"]),
    "old schemas were removed": ((5,), 1, 5, ["schema-2", "schema-1", "schema/", "schema-5"]),
    "no table": ((), None, None, ["schema/"]),
    "the table is gone": ((), 0, None, ["schema-1", "schema-0", "schema/"]),
}


@pytest.mark.parametrize(("ids", "known", "latest", "asked"), LATEST.values(), ids=LATEST)
def test_the_latest_schema_is_probed_from_a_known_one_and_otherwise_listed(
    tmp_path: Path, ids: tuple[int, ...], known: int | None, latest: int | None, asked: list[str]
) -> None:
    files = Recorded()
    found = table(tmp_path, *ids, files=files).latest_schema(known)
    assert (found and found.id, files.asked) == (latest, asked)


def test_many_new_schemas_are_listed_and_not_probed_one_by_one(tmp_path: Path) -> None:
    files = Recorded()
    found = table(tmp_path, *range(30), files=files).latest_schema(2)
    assert found is not None
    assert (found.id, len(files.asked)) == (29, MAX_PROBES + 2)


def test_other_files_beside_the_schemas_do_not_count(tmp_path: Path) -> None:
    of_table = table(tmp_path, 1)
    for name in (".schema-7.tmp", "schema-7.tmp", "schema-07", "schema--1", "schema-"):
        (tmp_path / "schema" / name).write_text(text_of(7))
    found = of_table.latest_schema()
    assert found is not None
    assert found.id == 1


def test_a_schema_has_the_time_of_its_commit(tmp_path: Path) -> None:
    found = table(tmp_path, 0).schema(0)
    assert found is not None
    assert (found.time_ms, found.options, found.primary_keys) == (1700000000000, {"bucket": "4"}, ("id",))


@pytest.mark.parametrize(
    ("version", "given", "options"),
    [
        (1, {}, {"bucket": "1", "file.format": "orc"}),
        (1, {"bucket": "7"}, {"bucket": "7", "file.format": "orc"}),
        (2, {}, {"file.format": "orc"}),
        (3, {}, {}),
    ],
)
def test_a_file_of_an_old_version_means_the_defaults_of_its_time(
    tmp_path: Path, version: int, given: dict[str, str], options: dict[str, str]
) -> None:
    of_table = table(tmp_path)
    (tmp_path / "schema" / "schema-0").write_text(text_of(0, version=version, options=given))
    found = of_table.schema(0)
    assert found is not None
    assert found.options == options


UNREADABLE = {
    "not JSON": ("{", "schema-0: Expecting"),
    "not UTF-8": (b"\xff{}", "schema-0: 'utf-8' codec"),
    "no object": ("[]", "no schema file"),
    "nothing in it": ("{}", "no schema file"),
    "a type of another form": (text_of(0, fields=[{"name": "a", "type": {"type": 7}}]), "no schema file"),
    "nested without end": ('{"version": 3, "fields": ' + "[" * 200_000, "recursion"),
    "a newer version": (text_of(0, version=4), "version 4 of schema files is newer than 3"),
    "a version that is no number": (text_of(0, version="3"), "no schema file"),
    "another schema": (text_of(5), "schema-0 holds schema 5"),
    "too large": (text_of(0, comment="x" * MAX_BYTES), f"more than {MAX_BYTES} bytes"),
}


@pytest.mark.parametrize(("content", "reason"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_cannot_be_read_is_left_to_the_jvm_with_a_reason(
    tmp_path: Path, content: str | bytes, reason: str
) -> None:
    of_table = table(tmp_path)
    (tmp_path / "schema" / "schema-0").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UnreadableError, match=reason):
        of_table.schema(0)
    with pytest.raises(UnreadableError, match=reason):
        of_table.latest_schema()


def test_a_failure_of_the_volume_is_left_to_the_jvm(tmp_path: Path) -> None:
    of_table = table(tmp_path)
    (tmp_path / "schema" / "schema-0").mkdir()
    with pytest.raises(UnreadableError, match="schema-0: Is a directory"):
        of_table.schema(0)


def test_a_volume_lists_files_and_directories_of_one_level(tmp_path: Path) -> None:
    (tmp_path / "shop.db" / "orders").mkdir(parents=True)
    (tmp_path / "note").write_text("")
    os.utime(tmp_path / "note", ns=(0, 1_700_000_000_123_456_789))
    files = VolumeFiles()
    for root in (f"file://{tmp_path}", f"file:{tmp_path}/", str(tmp_path)):
        assert sorted(files.names(root)) == ["note", "shop.db"]
        assert [files.read(f"{root}/{name}") for name in ("note", "none")] == [b"", None]
        assert list(files.times(root)) == [("note", 1_700_000_000_123)], "a directory has none"
    for path in ("none", "note"):
        assert [*files.names(f"{tmp_path}/{path}"), *files.times(f"{tmp_path}/{path}")] == []


@pytest.mark.parametrize(
    ("warehouse", "kind"),
    [
        ("file:///data/w", "VolumeFiles"),
        ("s3://lake/w", "S3Files"),
        ("hdfs://nn:8020/w", "HdfsFiles"),
        ("oss://lake/w", None),
    ],
)
def test_the_warehouse_decides_how_its_files_are_read(warehouse: str, kind: str | None) -> None:
    files = files_of(job(catalog=JobCatalog(warehouse, "filesystem", {ENGINE.s3.region_key: "us-east-1"})), ENGINE)
    assert (None if files is None else type(files).__name__) == kind


def test_jobs_of_one_catalog_share_its_files() -> None:
    lake, other = (JobCatalog(f"s3://{name}/w", "filesystem", {ENGINE.s3.region_key: "eu-1"}) for name in ("a", "b"))
    first, again = files_of(job(catalog=lake), ENGINE), files_of(job(catalog=lake), ENGINE)
    assert first is again
    assert files_of(job(catalog=other), ENGINE) is not first


def test_another_file_of_keys_needs_another_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys, lake = tmp_path / "keys", JobCatalog("s3://a/w", "filesystem", {ENGINE.s3.region_key: "eu-1"})
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(keys))
    absent = files_of(job(catalog=lake), ENGINE)
    keys.write_text("[default]\naws_access_key_id = one\naws_secret_access_key = s\n")
    first = files_of(job(catalog=lake), ENGINE)
    assert first is files_of(job(catalog=lake), ENGINE) is not absent
    (tmp_path / "fresh").write_text("[default]\naws_access_key_id = two\naws_secret_access_key = s\n")
    (tmp_path / "fresh").rename(keys)  # as kubelet replaces it
    assert files_of(job(catalog=lake), ENGINE) is not first


def test_a_table_lies_in_the_directory_of_its_database() -> None:
    assert location_of(job(catalog=JobCatalog("s3://lake/w/", "hive"))) == "s3://lake/w/shop.db/orders"


def test_threads_of_a_shared_driver_make_one_client(monkeypatch: pytest.MonkeyPatch) -> None:
    made, second = list[str](), threading.Event()

    def make(*_: object) -> VolumeFiles:
        made.append("a client")
        if len(made) > 1:
            second.set()
        second.wait(0.1)  # (only another client that is being made ends it sooner)
        return VolumeFiles()

    monkeypatch.setattr(metadata, "_kept", {})
    monkeypatch.setattr(metadata, "files_in", make)
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: files_of(job(), ENGINE), range(4)))
    assert len(made) == 1
    assert all(each is found[0] for each in found)
