"""The cache: objects never older than our own writes, exact after a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.runtime.cache import Cache, Revision, revisions_of
from paimon_operator.runtime.keys import Key


def table(name: str = "orders", version: int = 1, **parts: Any) -> dict[str, Any]:
    metadata = {"namespace": "shop", "name": name, "uid": f"uid-{name}", "resourceVersion": str(version)}
    return {"kind": "PaimonTable", "metadata": metadata | parts.pop("metadata", {}), "spec": {}, **parts}


def key(name: str = "orders") -> Key:
    return Key(Kind.TABLE, "shop", name)


def version_of(cache: Cache, name: str = "orders") -> str | None:
    body = cache.get(Kind.TABLE, "shop", name)
    return None if body is None else str(body["metadata"]["resourceVersion"])


@pytest.mark.parametrize(("first", "second", "kept"), [(5, 6, "6"), (6, 5, "6"), (5, 5, "5"), (99, 100, "100")])
def test_a_late_watch_event_does_not_revert_our_own_write(first: int, second: int, kept: str) -> None:
    cache = Cache()
    cache.put(Kind.TABLE, table(version=first))
    cache.put(Kind.TABLE, table(version=second))
    assert version_of(cache) == kept


@pytest.mark.parametrize(("first", "second", "kept"), [("old", "new", "new"), ("new", "old", "new")])
def test_of_two_objects_with_one_name_the_cache_keeps_the_successor_in_either_order(
    first: str, second: str, kept: str
) -> None:
    cache, versions = Cache(), {"old": 3, "new": 9}
    for uid in (first, second):
        cache.put(Kind.TABLE, table(version=versions[uid], metadata={"uid": uid}))
    body = cache.get(*key())
    assert body is not None
    assert body["metadata"]["uid"] == kept


DELETIONS = [
    ("its own deletion", "old", 5, False),
    ("its own deletion with a version older than our own write", "old", 2, False),
    ("the late deletion of its predecessor", "older", 2, True),
    ("the deletion of a successor that the cache never had", "young", 7, False),
]


@pytest.mark.parametrize(
    ("uid", "version", "stays"), [case[1:] for case in DELETIONS], ids=[case[0] for case in DELETIONS]
)
def test_a_deletion_removes_only_the_object_that_it_deleted(uid: str, version: int, stays: bool) -> None:
    cache = Cache()
    cache.put(Kind.TABLE, table(version=4, metadata={"uid": "old"}))
    cache.drop(Kind.TABLE, table(version=version, metadata={"uid": uid}))
    assert (cache.get(*key()) is not None) == stays


def replace(cache: Cache, bodies: Sequence[Manifest], before: Mapping[Key, Revision]) -> set[Key]:
    """Replaces the tables of the cache by a list of whole objects."""
    return cache.replace(Kind.TABLE, revisions_of(Kind.TABLE, bodies), bodies, before)


def test_a_list_removes_deleted_objects_and_returns_their_keys() -> None:
    cache = Cache()
    for name in ("gone", "stays"):
        cache.put(Kind.TABLE, table(name))
    before = cache.revisions(Kind.TABLE)
    removed = replace(cache, [table("stays"), table("new")], before)
    assert removed == {key("gone")}
    assert cache.keys(Kind.TABLE) == [key("new"), key("stays")]


def test_a_watch_event_during_a_list_is_neither_removed_nor_reverted() -> None:
    cache = Cache()
    cache.put(Kind.TABLE, table("edited", version=5))
    before = cache.revisions(Kind.TABLE)
    listed = [table("edited", version=5)]
    cache.put(Kind.TABLE, table("edited", version=8))
    cache.put(Kind.TABLE, table("born", version=7))
    assert replace(cache, listed, before) == set()
    assert (version_of(cache, "edited"), version_of(cache, "born")) == ("8", "7")


def test_a_list_from_a_restored_etcd_replaces_newer_versions() -> None:
    cache = Cache()
    cache.put(Kind.TABLE, table(version=900))
    replace(cache, [table(version=100)], cache.revisions(Kind.TABLE))
    assert version_of(cache) == "100"


def test_tables_are_found_by_their_catalog_and_runs_by_their_table() -> None:
    cache = Cache()
    for name in ("b", "a"):
        cache.put(Kind.TABLE, table(name, spec={"catalogRef": {"name": "lake"}}))
    cache.put(Kind.RUN, table("run-1", spec={"tableRef": {"name": "a"}}))
    lake = Key(Kind.CATALOG, "shop", "lake")
    assert cache.tables_of(lake) == [key("a"), key("b")]
    assert cache.runs_of(key("a")) == [Key(Kind.RUN, "shop", "run-1")]
    cache.drop(Kind.TABLE, table("a"))
    cache.put(Kind.TABLE, table("b", version=2, spec={"catalogRef": {"name": "other"}}))
    assert cache.tables_of(lake) == []
    assert cache.tables_of(Key(Kind.CATALOG, "elsewhere", "lake")) == []


@pytest.mark.parametrize("spec", [None, {}, {"catalogRef": None}, {"catalogRef": {}}])
def test_an_object_without_its_reference_is_kept(spec: object) -> None:
    cache = Cache()
    cache.put(Kind.TABLE, table(spec=spec))
    cache.drop(Kind.TABLE, table())
    assert cache.keys(Kind.TABLE) == []


def test_the_pods_of_all_past_runs_displace_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paimon_operator.runtime.cache.LIMIT_OF_PODS", 1024)
    cache = Cache()
    cache.put(Kind.TABLE, table())
    for number in range(100):
        meta = {"namespace": "shop", "name": f"pod-{number}", "uid": f"{number}", "resourceVersion": "1"}
        cache.put_pod({"kind": "Pod", "metadata": meta})
    kept = [number for number in range(100) if cache.whole(Kind.POD, "shop", f"pod-{number}") is not None]
    assert cache.whole(Kind.TABLE, "shop", "orders") == table()
    assert 1 < len(kept) < 50
    assert kept[-1] == 99, "the latest ones stay"
