"""Locks of earlier drivers of the table in a Hive metastore: released when their holder sends no heartbeat."""

from __future__ import annotations

import socket
import time
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from paimon_engines.loader import supported_engines
from spark_apps.catalog.metastores.hive_locks import POLL_S, STALE_AFTER_S, release_own_locks

JOB: Any = SimpleNamespace(table=SimpleNamespace(database="shop", name="orders"))


@dataclass
class Lock:
    """A lock in the metastore, whose clock differs from ours."""

    number: int
    host: str = "orders-1a2b3c4d"
    table: str = "orders"
    heartbeats: list[float] = field(default_factory=list)
    """Times of our clock in seconds at which its holder sends a heartbeat."""
    freed: float = float("inf")
    """Time of our clock at which its holder releases it."""


@dataclass
class Metastore:
    """The answers of a metastore's client, and a clock that `sleep` advances."""

    locks: list[Lock]
    now: float = 0.0
    unlocked: list[tuple[int, float]] = field(default_factory=list)

    def shown(self, request: object) -> Any:
        del request
        gone = {number for number, _ in self.unlocked}
        listed = [self._as_listed(lock) for lock in self.locks if lock.number not in gone and self.now < lock.freed]
        return SimpleNamespace(getLocks=lambda: listed)

    def unlock(self, number: int) -> None:
        self.unlocked.append((number, self.now))

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def _as_listed(self, lock: Lock) -> Any:
        beats = sum(1 for moment in lock.heartbeats if moment <= self.now)
        return SimpleNamespace(
            getLockid=lambda: lock.number,
            getLastheartbeat=lambda: 86_400_000 * 365 + beats,
            getDbname=lambda: "shop",
            getTablename=lambda: lock.table,
            getHostname=lambda: lock.host,
        )


@pytest.fixture(autouse=True)
def _hostname_of_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "orders-1a2b3c4d")


def release_locks(monkeypatch: pytest.MonkeyPatch, *locks: Lock) -> Metastore:
    """Releases the driver's own stale locks. Returns the metastore."""
    metastore = Metastore(list(locks))
    monkeypatch.setattr(time, "monotonic", lambda: metastore.now)
    monkeypatch.setattr(time, "sleep", metastore.sleep)
    client = SimpleNamespace(showLocks=metastore.shown, unlock=metastore.unlock)
    request = SimpleNamespace(setDbname=lambda _: None, setTablename=lambda _: None)
    api = SimpleNamespace(ShowLocksRequest=lambda: request)
    hive = SimpleNamespace(hadoop=SimpleNamespace(hive=SimpleNamespace(metastore=SimpleNamespace(api=api))))
    session: Any = SimpleNamespace(
        job=JOB,
        catalog=SimpleNamespace(getHmsClient=lambda: client),
        jvm=SimpleNamespace(org=SimpleNamespace(apache=hive)),
    )
    release_own_locks(session)
    return metastore


@pytest.mark.parametrize(
    "locks",
    [[], [Lock(1, host="flink")], [Lock(1, table="refunds")], [Lock(1, host="orders-1a2b3c4d.example.com")]],
    ids=["no lock", "of another host", "of another table", "of a host whose name has the same prefix"],
)
def test_a_lock_of_another_holder_is_neither_awaited_nor_released(
    monkeypatch: pytest.MonkeyPatch, locks: list[Lock]
) -> None:
    metastore = release_locks(monkeypatch, *locks)
    assert (metastore.unlocked, metastore.now) == ([], 0)


def test_a_lock_without_heartbeats_is_released_when_it_is_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    ((number, when),) = release_locks(monkeypatch, Lock(7)).unlocked
    assert number == 7
    assert STALE_AFTER_S <= when <= STALE_AFTER_S + POLL_S


def test_a_heartbeat_restarts_the_time_until_a_lock_is_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    ((_, when),) = release_locks(monkeypatch, Lock(7, heartbeats=[100, 290])).unlocked
    assert 290 + STALE_AFTER_S <= when <= 290 + STALE_AFTER_S + 2 * POLL_S


def test_a_lock_that_its_holder_releases_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    metastore = release_locks(monkeypatch, Lock(7, freed=42))
    assert metastore.unlocked == []
    assert metastore.now <= 42 + POLL_S


def test_all_locks_of_dead_drivers_are_released_and_locks_of_others_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    metastore = release_locks(monkeypatch, Lock(7), Lock(8), Lock(9, host="flink"))
    assert [number for number, _ in metastore.unlocked] == [7, 8]


@pytest.mark.parametrize(("engine", "tries"), [("paimon-0.9", 1), ("paimon-1.4", 11)])
def test_all_tries_of_a_commit_wait_about_eight_minutes_for_its_lock(engine: str, tries: int) -> None:
    """FileStoreCommitImpl of 1.4 retries after any failure of the lock, commit.max-retries (10) times."""
    timeout = supported_engines()[engine].hive_catalog_options.get("lock-acquire-timeout", "480 s")
    seconds, unit = timeout.split()
    assert unit == "s"
    assert 480 <= tries * int(seconds) <= 600
