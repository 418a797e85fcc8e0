"""The cache keeps every field that a decision about another object reads, and none besides.

Beside these tests, every test of this folder runs with a cache that refuses reads of other fields (`strict_cache`).
"""

from __future__ import annotations

import json
import random
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import ValidationError

from paimon_operator.api.base import MAX_SPEC_BYTES
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.core.naming import FINALIZER
from paimon_operator.core.operations import registry
from paimon_operator.core.ports import Kind
from paimon_operator.core.spec.size import packed
from paimon_operator.core.spec.table_head import TableHead
from paimon_operator.core.validation.catalog import blocking_problems
from paimon_operator.runtime import change_router
from paimon_operator.runtime.bodies import LARGEST, compressed
from paimon_operator.runtime.cache import KEPT, Cache
from paimon_operator.runtime.keys import key_of
from paimon_operator.runtime.new_tables import is_being_deleted
from paimon_operator.runtime.projection import Fields, Kept, kept_fields, projected
from paimon_operator.runtime.rest import is_at_rest, is_over
from paimon_operator.runtime.shared_pods import is_in_turn
from paimon_operator.runtime.table_news import TableSummary
from paimon_operator.runtime.table_runs import finished_run
from tests.support import builders, widest_tables
from tests.support.largest_objects import largest
from tests.support.manifests import Manifest, catalog, keyed_table, run

T1, T2 = "2026-11-21T08:00:00Z", "2026-11-21T09:00:00Z"
FACTS = builders.operator_facts()
METADATA = {"labels": {"a": "b"}, "managedFields": [{"manager": "kubectl"}], "annotations": {"team": "shop"}}


def table(dice: random.Random) -> Manifest:
    """Any table: each field that a reader knows has several values, or is absent."""
    run_ = {"name": dice.choice("ab"), "uid": dice.choice([None, "u"]), "blocked": dice.choice([None, True])}
    run_ |= {"type": "Compact", "resultUnknown": dice.choice([None, True]), "place": dice.choice([None, "here"])}
    run_["givesWay"] = dice.choice([None, True])
    status: Manifest = {
        "activeRun": dice.choice([None, run_]),
        "followingRuns": dice.choice([None, [{"name": "c", "type": "Compact", "uid": dice.choice(["u", "v"])}]]),
        "queuedRun": dice.choice([None, queued(dice)]),
        "usage": dice.choice([None, used(dice)]),
        "ownership": dice.choice(
            [None, {"place": dice.choice(["here", "there"]), "since": T1, "lostAt": dice.choice([None, T2])}]
        ),
        "outsideWriters": dice.choice([None, foreign(dice)]),
        "table": {"identifier": "shop.orders"},
    }
    for name in registry.OPERATIONS.memories:
        status[name] = dice.choice([None, [memory(dice), {}] if name == "writes" else memory(dice)])
    spec = {
        "catalogRef": {"name": dice.choice(["lake", "pond"])},
        "database": dice.choice(["shop", "mart"]),
        "table": dice.choice([None, "t", "u"]),
        "externalWriters": dice.choice(["None", "Active", "Paused"]),
        "bucket": dice.choice([None, {"type": "Dynamic"}, {"type": "Fixed", "fixed": {"count": 4}}]),
        "schema": {"columns": [{"name": "a", "type": "INT"}], "primaryKeys": dice.choice([None, ["a", "b"]])},
        "suspend": dice.choice([True, False]),
    }
    times = {"creationTimestamp": dice.choice([T1, T2]), "deletionTimestamp": dice.choice([None, T1])}
    return stored(dice, {"name": dice.choice(["orders", "clicks"])} | times, spec, status)


def memory(dice: random.Random) -> Manifest:
    reason = dice.choice(["BucketNotFound", "AccessDenied", "TableDiffers"])
    failure = {"reason": reason, "time": dice.choice([T1, T2]), "message": "m"}
    return {
        "failure": dice.choice([None, failure]),
        "lastTime": dice.choice([None, T1, T2]),
        "lastRun": "r",
        "foundAt": dice.choice([None, "here"]),
    }


def queued(dice: random.Random) -> Manifest:
    moments = {"since": dice.choice([T1, T2]), "rank": dice.choice([None, T1, T2])}
    return moments | {"message": "m", "type": "Compact"}


def used(dice: random.Random) -> Manifest:
    sums = {name: dice.choice([0, 7]) for name in ("runs", "failed", "podSeconds", "coreSeconds", "gibSeconds")}
    day = {"maintenanceDay": dice.choice([None, T1[:10], T2[:10]]), "maintenancePodSeconds": dice.choice([None, 60])}
    return sums | day | {"since": T1, "expectedSeconds": 9}


def foreign(dice: random.Random) -> Manifest:
    commit = {"snapshotId": 7, "commitUser": "flink", "kind": "APPEND", "time": T1}
    return {"stated": dice.choice(["None", "Paused"]), "seenSnapshot": 7, "commit": dice.choice([None, commit])}


def cataloged(dice: random.Random) -> Manifest:
    place = dice.choice([None, "s3.example:7070/lake/warehouse", "elsewhere"])
    moved = dice.choice([None, {"paimon-operator.dev/storage-moved": "true", "team": "shop"}])
    status: Manifest = {"place": place, "reachedAt": dice.choice([None, T1, T2]), "conditions": [], "tables": 7}
    meta = {"name": "lake", "annotations": moved, "deletionTimestamp": dice.choice([None, T1])}
    return stored(dice, meta, catalog(spec__suspend=dice.choice([True, False]))["spec"], status)


def runs(dice: random.Random) -> Manifest:
    spec = {**run()["spec"], "tableRef": {"name": dice.choice("ab")}, "ttlAfterFinished": dice.choice([None, "1h"])}
    spec["trigger"] = dice.choice([None, {"type": "Schedule", "message": "m"}])
    last = {"number": 2, "pod": dice.choice([None, "p-2"]), "state": dice.choice(["Running", "Ended"])}
    attempts = dice.choice([None, [{"pod": "p-1", "number": 1, "state": "Ended"}, last]])
    status: Manifest = {"phase": dice.choice([None, "Running", "Succeeded", "Failed"]), "attempts": attempts}
    status["completionTime"] = dice.choice([None, T1, T2])
    times = {name: dice.choice([None, T1, T2]) for name in ("creationTimestamp", "deletionTimestamp")}
    meta = {"name": "r", "finalizers": dice.choice([None, [], [FINALIZER, "other"]]), **times}
    return stored(dice, meta, spec, status)


def stored(dice: random.Random, meta: Manifest, spec: Manifest, status: Manifest) -> Manifest:
    """An object as the API server delivers it: without null values."""
    identity = {"namespace": dice.choice(["shop", "mart"]), "uid": dice.choice("xy")}
    version = {"resourceVersion": dice.choice("12"), "generation": dice.choice([1, 2])}
    body = {"metadata": METADATA | identity | version | meta, "spec": spec, "status": status}
    found: Manifest = without_nulls(body)
    return found


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_nulls(inner) for name, inner in value.items() if inner is not None}
    return [without_nulls(each) for each in value] if isinstance(value, list) else value


def answers(kind: Kind, body: Manifest) -> list[object]:
    """What the readers of the cache find out about an object."""
    identity = [body["metadata"].get(name) for name in ("name", "namespace", "uid", "resourceVersion")]
    match kind:
        case Kind.TABLE:
            named = change_router._named_runs(body)
            runs = change_router._affected_runs(key_of(kind, body), None, body), [each.get("name") for each in named]
            active = (body.get("status") or {}).get("activeRun") or {}
            others = TableSummary.of(body), builders.catalog_observed([body])
            return [
                *identity,
                TableHead.model_validate(body),
                *others,
                *runs,
                active.get("uid"),
                active.get("givesWay"),
                is_being_deleted(body),
            ]
        case Kind.CATALOG:
            found = PaimonCatalog.model_validate(body)
            status = found.status.place, found.status.reached_at, found.metadata.deletion_timestamp
            return [*identity, found.spec, *status, [str(each) for each in blocking_problems(found, FACTS)]]
    at_rest = is_at_rest(body), is_over(body)
    in_turn = is_in_turn(body, "p-2")
    finished = finished_run("r", body) if is_over(body) else None
    return [*identity, change_router.table_of(body), change_router._pods_of(body), *at_rest, in_turn, finished]


ANY = {Kind.TABLE: table, Kind.CATALOG: cataloged, Kind.RUN: runs}
OBJECTS = {kind: [ANY[kind](random.Random(seed)) for seed in range(1000)] for kind in KEPT}  # noqa: S311


@pytest.mark.parametrize("kind", KEPT)
def test_readers_find_the_same_in_the_kept_fields_as_in_the_whole_object(kind: Kind) -> None:
    for body in OBJECTS[kind]:
        assert answers(kind, projected(kind, body)) == answers(kind, body)


def leaves(fields: Fields, *above: str) -> Iterator[tuple[str, ...]]:
    for name, inner in fields.items():
        yield from [(*above, name)] if isinstance(inner, Kept) else leaves(inner, *above, name)


def without(value: Any, path: tuple[str, ...]) -> Any:
    """`value` without the field at `path`."""
    if isinstance(value, list):
        return [without(each, path) for each in value]
    name, *below = path
    if name not in value:
        return value
    others = {other: inner for other, inner in value.items() if other != name}
    return {**others, name: without(value[name], tuple(below))} if below else others


LEAVES = [(kind, path) for kind in KEPT for path in leaves(kept_fields(kind)) if path != ("spec",)]


@pytest.mark.parametrize(("kind", "path"), LEAVES, ids=[f"{kind}-{'.'.join(path)}" for kind, path in LEAVES])
def test_every_kept_field_is_read(kind: Kind, path: tuple[str, ...]) -> None:
    kept = [projected(kind, body) for body in OBJECTS[kind]]
    assert any(differ(kind, body, without(body, path)) for body in kept)


def differ(kind: Kind, body: Manifest, other: Manifest) -> bool:
    try:
        return answers(kind, body) != answers(kind, other)
    except (ValidationError, KeyError):  # without the field it cannot be read at all
        return True


@pytest.mark.parametrize("kind", KEPT)
def test_the_kept_fields_of_kept_fields_are_the_same(kind: Kind) -> None:
    for body in OBJECTS[kind]:
        assert projected(kind, projected(kind, body)) == projected(kind, body)


MEMORY = 32 * 1024 + LARGEST
"""Bytes that the cache may use for one object, if every text of the status has its full length in 4-byte characters."""
KEYS = {f"example.com/{number:0>200}": "v" * 63 for number in range(4000)}
"""More than a MiB of labels or annotations, which no schema bounds."""


@pytest.mark.parametrize("kind", [Kind.TABLE, Kind.RUN])
def test_the_memory_of_the_largest_object_is_bounded(kind: Kind) -> None:
    parts = {part: largest(kind, part) for part in ("spec", "status")}
    meta = {
        "namespace": "n" * 63,
        "labels": KEYS,
        "annotations": KEYS,
        "finalizers": list(KEYS),
        "managedFields": [KEYS],
    }
    cache, text = Cache(), json.dumps(parts | {"metadata": meta})
    Cache().put(kind, json.loads(text) | {"metadata": {"name": "first", "namespace": "n"}})  # what is made once
    tracemalloc.start()
    for number in range(20):
        body = json.loads(text)  # as a watch delivers it: nothing of it is shared
        body["metadata"] |= {"name": f"{number:x>48}", "uid": f"{number:x>36}", "resourceVersion": f"{number}"}
        cache.put(kind, body)
        del body
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(cache.keys(kind)) == 20
    assert len(text) > 1024 * 1024
    assert used / 20 < MEMORY


MORE = 20 * 1024
"""Bytes that a legal table may cost beyond a small one."""


def wordy_table(comments: int) -> Manifest:
    """A table with so many long comments of which no two have a word in common."""
    dice, body = random.Random(0), widest_tables.aggregating()  # noqa: S311
    columns = [dict(column) for column in body["spec"]["schema"]["columns"]]
    for column in columns[:comments]:
        column["comment"] = dice.randbytes(500).hex()
    return {**body, "spec": {**body["spec"], "schema": {**body["spec"]["schema"], "columns": columns}}}


def memory_of(body: Manifest) -> float:
    """Bytes that the cache uses for one such object.

    The least of three measurements: one also counts what the process makes once, and what another thread allocates.
    """
    text = json.dumps(body)
    return min(_memory_of_four(text) for _ in range(3)) / 4


def _memory_of_four(text: str) -> int:
    cache = Cache()
    tracemalloc.start()
    for number in range(4):
        each = json.loads(text)
        each["metadata"] = {"namespace": "shop", "name": f"t-{number}", "uid": f"u-{number}", "resourceVersion": "1"}
        cache.put(Kind.TABLE, each)
        del each
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return used


def test_no_legal_table_costs_twenty_kib_more_than_a_small_one() -> None:
    kept = [comments for comments in range(40) if compressed(wordy_table(comments) | {"metadata": {}}) is not None]
    largest_kept, too_large = wordy_table(kept[-1]), wordy_table(80)
    assert len(packed(too_large["spec"])) <= MAX_SPEC_BYTES
    small = memory_of(keyed_table())
    assert LARGEST * 0.9 < memory_of(largest_kept) - small < MORE, "kept whole"
    assert memory_of(too_large) - small < MORE


def test_of_a_table_of_500_columns_less_than_two_kib_are_kept() -> None:
    body = widest_tables.aggregating() | {"status": {"activeRun": {"name": "r"}}}
    assert len(packed(projected(Kind.TABLE, body))) < 2048


def test_a_catalog_whose_spec_is_too_large_is_cached_without_it_and_so_cannot_be_read() -> None:
    affinity = {"nodeAffinity": ["x" * 60] * (MAX_SPEC_BYTES // 60)}
    body = catalog(spec__spark={"podOverlay": {"affinity": affinity}})
    kept = projected(Kind.CATALOG, body)
    assert len(packed(kept)) < 1024
    assert change_router.read(PaimonCatalog, kept) is None
    smaller = catalog(spec__spark={"podOverlay": {"affinity": {"nodeAffinity": ["x" * 60]}}})
    assert projected(Kind.CATALOG, smaller)["spec"] == smaller["spec"]
