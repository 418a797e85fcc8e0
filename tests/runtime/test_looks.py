"""What the operator keeps of looks, which of them ask for a reconcile, and what it answers."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from paimon_contract.looks import TableToLook
from paimon_operator.api.looks import Findings, TableFinding
from paimon_operator.api.measure import Measure
from paimon_operator.core.ports import Kind, PodIdentity
from paimon_operator.runtime.cache import Cache
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.looks import NEWS_EVERY, Looks
from tests.support import builders
from tests.support.virtual_time import VirtualTime

LAKE = Key(Kind.CATALOG, "shop", "lake")
ORDERS = Key(Kind.TABLE, "shop", "orders")
POD = PodIdentity(namespace="shop", name="paimon-observer-lake-1", uid="pod-1")


def stored(name: str, *, established: bool = True, **spec: Any) -> dict[str, Any]:
    """A table as the API server stores it."""
    manifest = builders.table_manifest(name, **spec)
    created = "2026-11-20T12:00:00Z"
    manifest["metadata"] |= {"uid": f"uid-of-{name}", "resourceVersion": "1", "creationTimestamp": created}
    owned = {"place": "s3:7070:s3://lake/warehouse/shop.db/x", "since": "2026-11-20T12:00:00Z"}
    return manifest | ({"status": {"ownership": owned}} if established else {})


class Kept:
    """Looks at the tables of the catalog `lake`, and the reconciles that they asked for."""

    def __init__(self) -> None:
        self.time, self.cache = VirtualTime(), Cache()
        self.asked: list[tuple[str, float]] = []
        self.looks = Looks(
            self.cache, interval_s=60, clock=self.time, enqueue=lambda key, after: self.asked.append((key.name, after))
        )
        for table in (stored("orders"), stored("web-events", table="events"), stored("new", established=False)):
            self.cache.put(Kind.TABLE, table)
        self.cache.put(Kind.TABLE, stored("other", catalogRef={"name": "pond"}))
        self.looks.expect(LAKE, {POD.uid: POD.name})

    def receive(self, *, age: int = 0, **same: int) -> tuple[TableToLook, ...]:
        """Tables that are the same, by name."""
        return self._receive({}, {f"uid-of-{name}": snapshot for name, snapshot in same.items()}, age)

    def found(self, table: str = "orders", *, age: int = 0, **measure: Any) -> tuple[TableToLook, ...]:
        """A table that has changed."""
        return self._receive({f"uid-of-{table}": TableFinding(measure=Measure.model_validate(measure))}, {}, age)

    def unknown(self, why: str) -> None:
        self._receive({"uid-of-orders": TableFinding(unknown=why)}, {}, 0)

    def _receive(
        self, tables: dict[str, TableFinding], same: dict[str, int | None], age: int
    ) -> tuple[TableToLook, ...]:
        findings = Findings(age=timedelta(seconds=age), tables=tables, same=same)
        return asyncio.run(self.looks.receive(LAKE, findings, self.time.now())).tables


@pytest.fixture
def kept() -> Kept:
    return Kept()


def test_the_established_tables_of_the_catalog_are_to_be_looked_at(kept: Kept) -> None:
    assert kept.receive() == (
        TableToLook(uid="uid-of-orders", database="shop", name="orders", wanted=True),
        TableToLook(uid="uid-of-web-events", database="shop", name="events", wanted=True),
    )


def test_a_table_is_wanted_until_a_look_at_it_is_known(kept: Kept) -> None:
    assert [each.wanted for each in kept.found(snapshotId=1)] == [None, True]


def test_a_look_has_the_time_at_which_it_began(kept: Kept) -> None:
    kept.found(age=20, snapshotId=1)
    look = kept.looks.of(LAKE, "uid-of-orders")
    assert look is not None
    assert look.looked_at == kept.time.now() - timedelta(seconds=20)


def test_a_table_that_is_the_same_has_a_newer_look_and_asks_for_nothing(kept: Kept) -> None:
    kept.found(snapshotId=1)
    kept.time.advance(60)
    kept.receive(orders=1)
    look = kept.looks.of(LAKE, "uid-of-orders")
    assert look is not None
    assert (look.looked_at, kept.asked) == (kept.time.now(), [("orders", 0.0)])


@pytest.mark.parametrize(("before", "snapshot"), [(None, 1), (1, 2)], ids=["no look", "a look at another snapshot"])
def test_that_nothing_has_changed_says_nothing_without_the_look_that_it_is_about(
    kept: Kept, before: int | None, snapshot: int
) -> None:
    if before is not None:
        kept.found(snapshotId=before)
    known = kept.looks.of(LAKE, "uid-of-orders")
    kept.time.advance(60)
    kept.receive(orders=snapshot)
    assert kept.looks.of(LAKE, "uid-of-orders") == known


@pytest.mark.parametrize("uid", ["uid-of-other", "uid-of-new", "somebody"])
def test_only_established_tables_of_the_catalog_are_reported(kept: Kept, uid: str) -> None:
    kept.found(uid.removeprefix("uid-of-"), snapshotId=1)
    assert (kept.looks.of(LAKE, uid), kept.asked) == (None, [])


def test_a_table_that_changes_all_the_time_is_reconciled_every_five_minutes(kept: Kept) -> None:
    for snapshot in range(1, 12):
        kept.found(snapshotId=snapshot)
        kept.time.advance(60)
    every = NEWS_EVERY.total_seconds()
    now = [after for _, after in kept.asked if after == 0]
    assert [each for _, each in kept.asked[:3]] == [0.0, every - 60, every - 120]
    assert len(now) == 3


def test_becoming_unknown_and_known_again_is_news_and_other_words_are_not(kept: Kept) -> None:
    kept.found(snapshotId=1)
    for why in ("its manifests are too many", "its manifests are 3,000"):
        kept.time.advance(600)
        kept.unknown(why)
    kept.time.advance(600)
    kept.found(snapshotId=1)
    assert kept.asked == [("orders", 0.0)] * 3


def test_the_look_at_a_deleted_table_is_forgotten(kept: Kept) -> None:
    kept.found(snapshotId=1)
    kept.cache.drop(Kind.TABLE, stored("orders"))
    kept.receive()
    assert kept.looks.of(LAKE, "uid-of-orders") is None


def test_looks_are_forgotten_with_the_observer(kept: Kept) -> None:
    kept.found(snapshotId=1)
    kept.looks.expect(LAKE, {})
    assert (kept.looks.of(LAKE, "uid-of-orders"), kept.looks.catalog_of(POD)) == (None, None)


OTHERS = {
    "another namespace": PodIdentity(namespace="bank", name=POD.name, uid=POD.uid),
    "another name": PodIdentity(namespace="shop", name="mine", uid=POD.uid),
    "another UID": PodIdentity(namespace="shop", name=POD.name, uid="pod-2"),
}


@pytest.mark.parametrize("pod", OTHERS.values(), ids=OTHERS)
def test_only_the_very_pod_that_the_operator_made_is_the_observer(kept: Kept, pod: PodIdentity) -> None:
    assert kept.looks.catalog_of(POD) == LAKE
    assert kept.looks.catalog_of(pod) is None
