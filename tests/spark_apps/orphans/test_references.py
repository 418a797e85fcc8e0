"""Everything that a table reaches is referenced, and a file that is missing there ends the reading."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.volume import VolumeFiles
from spark_apps.orphans.references import MissingError, References
from tests.support.fabricated_avro import data_file
from tests.support.recorded_files import Recorded
from tests.support.whole_table import UUID, WholeTable


@pytest.fixture
def table(tmp_path: Path) -> WholeTable:
    return WholeTable(tmp_path / "orders")


def referenced(table: WholeTable, *more: str) -> set[str]:
    """The names of all files of the table that are referenced, and those of `more`."""
    wanted = {each.name for each in table.paths()} | set(more)
    return References(VolumeFiles(), table.location, wanted).referenced()


def metadata(table: WholeTable) -> set[str]:
    return {each.name for each in (table.root / "manifest").iterdir()}


def test_all_files_of_all_snapshots_are_referenced(table: WholeTable) -> None:
    first = table.write(2)
    table.commit(remove=[first[0]])
    later = table.write(1, merge=True)
    assert referenced(table) == {*first, *later, *metadata(table)}, "with the indexes beside data files"


def test_what_expired_is_not_referenced_any_more(table: WholeTable) -> None:
    first = table.write(1)
    table.commit(remove=[first[0]])
    table.write(1, merge=True)
    table.expire(before=3)
    assert not set(first) & referenced(table, *first)


def test_a_tag_keeps_the_files_of_a_snapshot_that_has_expired(table: WholeTable) -> None:
    first = table.write(1)
    kept = {each.name: each.read_bytes() for each in (table.root / "manifest").iterdir()}
    table.tag("one", 1)
    table.commit(remove=[first[0]])
    table.commit([], merge=True)
    table.expire(before=3)
    for name, content in kept.items():
        table.put(table.root / "manifest" / name, content)
    assert {*first, *kept} <= referenced(table, *first)


def test_a_branch_keeps_its_files_also_those_of_its_tags(table: WholeTable) -> None:
    first = table.write(1)
    kept = {each.name: each.read_bytes() for each in (table.root / "manifest").iterdir()}
    root = table.branch_with_schema("b", 1)
    (root / "tag").mkdir()
    (root / "snapshot" / "snapshot-1").rename(root / "tag" / "tag-x")
    (root / "snapshot" / "LATEST").unlink()
    table.commit(remove=[first[0]])
    table.commit([], merge=True)
    table.expire(before=3)
    for name, content in kept.items():
        table.put(table.root / "manifest" / name, content)
    assert {*first, *kept} <= referenced(table, *first)


def test_changelog_files_of_a_snapshot_are_referenced(table: WholeTable) -> None:
    log = table.data_name("changelog-")
    name = table.changelog_list(log)
    table.write(1, changelogManifestList=name)
    assert {log, name} <= referenced(table)
    assert metadata(table) <= referenced(table)


def test_index_files_and_statistics_are_referenced(table: WholeTable) -> None:
    vectors, hashes, statistics = f"index-{UUID.format(7)}-0", f"index-{UUID.format(7)}-1", f"stat-{UUID.format(7)}-0"
    table.put(table.root / "statistics" / statistics)
    index = table.index_manifest(vectors, hashes)
    table.write(1, indexManifest=index, statistics=statistics)
    assert {vectors, hashes, statistics, index} <= referenced(table)


def expired_with_changelog(table: WholeTable, **options: str) -> tuple[str, Path]:
    """A long-lived changelog whose snapshot has expired. Returns its changelog file and its own file."""
    table.put_schema(table.root, options)
    log = table.data_name("changelog-")
    table.write(1, changelogManifestList=table.changelog_list(log))
    kept = table.keep_changelog(1)
    table.write(1, merge=True)
    table.expire(before=2)
    return log, kept


def test_a_long_lived_changelog_keeps_its_changelog_files_without_the_lists_of_its_snapshot(table: WholeTable) -> None:
    log, kept = expired_with_changelog(table, **{"changelog-producer": "lookup"})
    named = json.loads(kept.read_text())
    for member in ("baseManifestList", "deltaManifestList"):
        (table.root / "manifest" / named[member]).unlink()
    assert {log, named["changelogManifestList"]} <= referenced(table)
    assert {named["baseManifestList"], named["deltaManifestList"]} <= referenced(table, *named.values())


def test_a_long_lived_changelog_keeps_the_new_files_of_a_table_without_a_producer(table: WholeTable) -> None:
    first = table.write(1)
    table.keep_changelog(1)
    table.commit(remove=[first[0]], merge=True)
    kept = {each.name: each.read_bytes() for each in (table.root / "manifest").iterdir()}
    table.commit([], merge=True)
    table.expire(before=3)
    for name, content in kept.items():
        table.put(table.root / "manifest" / name, content)
    assert set(first) <= referenced(table, *first)


def test_the_changelog_of_a_tag_may_be_gone(table: WholeTable) -> None:
    """Paimon expires it with the snapshot, although the tag names it."""
    log = table.data_name("changelog-")
    name = table.changelog_list(log)
    first = table.write(1, changelogManifestList=name)
    table.tag("one", 1)
    kept = {each.name: each.read_bytes() for each in (table.root / "manifest").iterdir()}
    table.commit([], merge=True)
    table.expire(before=2)
    for each, content in kept.items():
        table.put(table.root / "manifest" / each, content)
    (table.root / "manifest" / name).unlink()
    assert set(first) <= referenced(table)
    assert log not in referenced(table)


def _lose_snapshots(table: WholeTable) -> None:
    """All but the hint."""
    for number in (1, 2, 3):
        table.snapshot_file(number).unlink()


Change = Callable[[WholeTable], Any]
MISSING: dict[str, tuple[Change, str]] = {
    "the base list of a snapshot": (lambda t: t.manifest_file("baseManifestList", 1).unlink(), "snapshot-1 needs it"),
    "the delta list of a snapshot": (lambda t: t.manifest_file("deltaManifestList").unlink(), "snapshot-3 needs it"),
    "the changelog of a snapshot": (lambda t: t.manifest_file("changelogManifestList", 2).unlink(), "snapshot-2 needs"),
    "an index manifest": (lambda t: t.manifest_file("indexManifest", 2).unlink(), "snapshot-2 needs it"),
    "a manifest": (lambda t: t.manifests()[0].unlink(), "does not exist, although .*snapshot-[123] needs it"),
    "a snapshot between others": (lambda t: t.snapshot_file(2).unlink(), "snapshot-2 does not exist, although"),
    "the snapshot that LATEST names": (lambda t: t.snapshot_file(3).unlink(), "snapshot-3 does not exist, although"),
    "all snapshots": (_lose_snapshots, "snapshot-3 does not exist, although .*LATEST"),
    "the base list of a tag": (
        lambda t: _retag(t, baseManifestList=f"manifest-list-{UUID.format(5)}-0"), "tag-one needs it"
    ),
    "the base list of a branch": (
        lambda t: _rebranch(t, baseManifestList=f"manifest-list-{UUID.format(5)}-0"), "branch-b/.*snapshot-1 needs it"
    ),
    "the delta of a changelog without a producer": (
        lambda t: _changelog(t, deltaManifestList=f"manifest-list-{UUID.format(5)}-0"), "changelog-1 needs it"
    ),
    "the changelog of a changelog": (
        lambda t: _changelog(t, changelogManifestList=f"manifest-list-{UUID.format(5)}-0"), "changelog-1 needs it"
    ),
}  # fmt: skip
DAMAGED: dict[str, tuple[Change, str]] = {
    "a manifest list that was cut off": (lambda t: _cut(t.manifest_file("baseManifestList")), "is no Avro file"),
    "an empty manifest list": (lambda t: t.manifest_file("baseManifestList").write_bytes(b""), "is no Avro file"),
    "a manifest that was cut off": (lambda t: _cut(t.manifests()[0]), "bytes of"),
    "an index manifest that was cut off": (lambda t: _cut(t.manifest_file("indexManifest", 2)), "is no Avro file"),
    "an empty snapshot": (lambda t: t.snapshot_file(2).write_bytes(b""), "snapshot-2"),
    "a snapshot of a newer Paimon": (
        lambda t: t.put(t.snapshot_file(3), json.dumps({"version": 9}).encode()), "version 9"
    ),
    "an empty tag": (lambda t: t.put(t.root / "tag" / "tag-one", b""), "tag-one"),
    "an empty changelog": (lambda t: t.put(t.root / "changelog" / "changelog-1", b""), "changelog-1"),
}  # fmt: skip


def _cut(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


def _retag(table: WholeTable, **members: str) -> None:
    document = json.loads(table.snapshot_file(1).read_text()) | members
    table.put(table.root / "tag" / "tag-one", json.dumps(document).encode())


def _rebranch(table: WholeTable, **members: str) -> None:
    file = table.branch_with_schema("b", 1) / "snapshot" / "snapshot-1"
    file.write_text(json.dumps(json.loads(file.read_text()) | members))


def _changelog(table: WholeTable, **members: str) -> None:
    document = json.loads(table.snapshot_file(1).read_text()) | members
    table.put(table.root / "changelog" / "changelog-1", json.dumps(document).encode())


@pytest.fixture
def varied(table: WholeTable) -> WholeTable:
    """Three snapshots, of which the second has a changelog and an index manifest."""
    table.write(1)
    log = table.changelog_list(table.data_name("changelog-"))
    index = table.index_manifest(f"index-{UUID.format(8)}-0", f"index-{UUID.format(8)}-1")
    table.write(1, changelogManifestList=log, indexManifest=index)
    table.write(1)
    return table


@pytest.mark.parametrize(("change", "said"), MISSING.values(), ids=MISSING)
def test_a_missing_file_is_never_read_as_empty(varied: WholeTable, change: Change, said: str) -> None:
    assert referenced(varied)
    change(varied)
    with pytest.raises(MissingError, match=said):
        referenced(varied)


@pytest.mark.parametrize(("change", "said"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_ends_the_reading(varied: WholeTable, change: Change, said: str) -> None:
    change(varied)
    with pytest.raises(UnreadableError, match=said):
        referenced(varied)


def test_a_file_that_goes_missing_after_the_first_reading_is_found_by_the_second(varied: WholeTable) -> None:
    references = References(VolumeFiles(), varied.location, {each.name for each in varied.paths()})
    references.referenced()
    varied.manifests()[0].unlink()
    with pytest.raises(MissingError, match="manifest"):
        references.referenced()


def test_what_was_referenced_once_stays_so_for_the_run(varied: WholeTable) -> None:
    wanted = {each.name for each in varied.paths()}
    references = References(VolumeFiles(), varied.location, wanted)
    before = set(references.referenced())
    varied.commit([], merge=True)
    varied.expire(before=4)
    assert before <= references.referenced()


def test_a_manifest_is_read_once(varied: WholeTable) -> None:
    files = Recorded()
    references = References(files, varied.location, ())
    references.referenced()
    first = [each for each in files.asked if each.startswith("manifest-0a")]
    files.asked.clear()
    references.referenced()
    assert first
    assert not [each for each in files.asked if each.startswith("manifest-0a")]


def test_snapshots_that_expire_meanwhile_are_read_again(varied: WholeTable) -> None:
    expired: list[bool] = []

    def expire(name: str) -> None:
        if name == "snapshot-1" and not expired:
            expired.append(True)
            varied.commit([], merge=True)
            varied.expire(before=3)

    found = References(Recorded(expire), varied.location, {each.name for each in varied.paths()}).referenced()
    assert expired
    assert set(varied.live) <= found


def test_a_branch_without_a_schema_ends_the_run(varied: WholeTable) -> None:
    varied.branch("b", 1)
    with pytest.raises(UnreadableError, match=r"branch-b/schema has no schema"):
        list(References(VolumeFiles(), varied.location, ()).schemas())


def test_manifests_of_another_format_end_the_run(table: WholeTable) -> None:
    table.put_schema(table.root, {"manifest.format": "orc"}, 1)
    with pytest.raises(UnreadableError, match="orc"):
        list(References(VolumeFiles(), table.location, ()).schemas())


def test_an_external_file_protects_its_name(table: WholeTable) -> None:
    name, other = table.data_name(), table.data_name()
    table.commit([data_file(name, external=f"s3://elsewhere/day=mon/{other}")])
    assert {name, other} <= referenced(table, name, other)


@pytest.mark.parametrize("gone", ["branch/branch-b", "."], ids=["a branch that is renamed", "a table that is dropped"])
def test_a_directory_that_goes_away_meanwhile_is_not_read_as_one_without_snapshots(
    varied: WholeTable, gone: str
) -> None:
    """Its listings are empty then, and nothing else says that it had any."""
    varied.branch_with_schema("b", 1)
    left = [varied.root / gone]

    def vanish(name: str) -> None:
        if name == "LATEST" and left:
            for kind in ("snapshot", "schema"):
                shutil.rmtree(left[0] / kind)
            left.pop()

    files = Recorded(vanish)
    with pytest.raises(MissingError, match="schema-0, or a later schema, does not exist"):
        References(files, varied.location, ()).referenced()


def test_a_branch_that_is_renamed_meanwhile_is_read_by_its_new_name(table: WholeTable) -> None:
    """It alone keeps the first file."""
    first = table.write(1)
    kept = {each.name: each.read_bytes() for each in (table.root / "manifest").iterdir()}
    left = [table.branch_with_schema("b", 1)]
    table.commit(remove=[first[0]])
    table.commit([], merge=True)
    table.expire(before=3)
    for name, content in kept.items():
        table.put(table.root / "manifest" / name, content)

    def rename(name: str) -> None:
        if name == "LATEST" and left:
            left.pop().rename(table.root / "branch" / "branch-c")

    assert set(first) <= References(Recorded(rename), table.location, set(first)).referenced()
    assert not left


def test_a_branch_that_is_made_meanwhile_is_read_though_its_tag_is_gone(table: WholeTable) -> None:
    first = table.write(1)
    kept = {each.name: each.read_bytes() for each in (table.root / "manifest").iterdir()}
    document = table.snapshot_file(1).read_bytes()
    table.tag("one", 1)
    table.commit(remove=[first[0]])
    table.commit([], merge=True)
    table.expire(before=3)
    for name, content in kept.items():
        table.put(table.root / "manifest" / name, content)
    left = [table.root / "tag" / "tag-one"]

    def branch(name: str) -> None:
        if name == "LATEST" and left:
            left.pop().unlink()
            table.put(table.root / "branch" / "branch-b" / "snapshot" / "snapshot-1", document)
            table.put_schema(table.root / "branch" / "branch-b")

    assert set(first) <= References(Recorded(branch), table.location, set(first)).referenced()
    assert not left
