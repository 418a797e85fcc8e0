"""Metrics of objects: computed from the cache, bounded in number, and without a request."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.ports import Kind
from paimon_operator.runtime.cache import Cache
from paimon_operator.runtime.clock import SystemClock
from paimon_operator.runtime.decided_until import DecidedUntil
from paimon_operator.runtime.deferred_ticks import DeferredTicks
from paimon_operator.runtime.described_metrics import PREFIX
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.listed import listed
from paimon_operator.runtime.object_facts import facts_of
from paimon_operator.runtime.object_metrics import KEPT_SECONDS, ObjectMetrics
from tests.runtime.operator_in_memory import OperatorInMemory, provisioned
from tests.support.manifests import Manifest, run

NOW = 1_800_000_000.0
AN_HOUR_AGO, SOON = "2027-01-15T07:00:00Z", "2027-01-15T08:00:05Z"
LIMIT = 3
LABELS = ("kind", "namespace", "table", "type", "condition", "status", "reason")


def table(name: str = "orders", *, namespace: str = "shop", **status: Any) -> Manifest:
    meta = {"name": name, "namespace": namespace, "uid": name, "resourceVersion": "1"}
    return {"metadata": meta, "spec": {}, "status": {"conditions": [condition("Ready", "True")], **status}}


def condition(type_: str, status: str, reason: str = "TableMatchesSpec") -> Manifest:
    return {"type": type_, "status": status, "reason": reason, "message": "m", "lastTransitionTime": AN_HOUR_AGO}


class Scraped:
    """A cache, and what Prometheus reads of it."""

    def __init__(self, cache: Cache | None = None) -> None:
        self.cache, self.now = cache or Cache(), NOW
        self.deferred = DeferredTicks()
        self.decided = DecidedUntil(SystemClock(), monotonic=time.monotonic)
        self.registry = CollectorRegistry()
        metrics = ObjectMetrics(
            self.cache, table_limit=LIMIT, now=lambda: self.now, decided=self.decided, deferred=self.deferred
        )
        self.registry.register(metrics)

    def put(self, *bodies: Manifest, kind: Kind = Kind.TABLE) -> Scraped:
        for body in bodies:
            self.cache.put(kind, body)
        return self

    def samples(self, name: str) -> dict[tuple[str, ...], float]:
        """Values of the labels, in the order of `LABELS` -> value."""
        return {
            tuple(labels[label] for label in LABELS if label in labels): value
            for each, labels, value in self._all()
            if each == f"{PREFIX}_{name}"
        }

    def count(self) -> int:
        return sum(1 for _ in self._all())

    def _all(self) -> Iterator[tuple[str, dict[str, str], float]]:
        for family in text_string_to_metric_families(generate_latest(self.registry).decode()):
            yield from ((sample.name, sample.labels, sample.value) for sample in family.samples)


@pytest.fixture
def scraped() -> Scraped:
    return Scraped()


def test_objects_are_counted_by_kind_namespace_condition_status_and_reason(scraped: Scraped) -> None:
    bad = [condition("Ready", "False", "AccessDenied"), condition("Stalled", "True", "AccessDenied")]
    scraped.put(table("a"), table("b"), table("c", namespace="bank"), table("d", conditions=bad))
    scraped.put({**run(), "metadata": table("r")["metadata"], "status": {"conditions": bad[1:]}}, kind=Kind.RUN)
    assert scraped.samples("objects") == {
        ("PaimonTable", "shop", "Ready", "True", "TableMatchesSpec"): 2,
        ("PaimonTable", "bank", "Ready", "True", "TableMatchesSpec"): 1,
        ("PaimonTable", "shop", "Ready", "False", "AccessDenied"): 1,
        ("PaimonTable", "shop", "Stalled", "True", "AccessDenied"): 1,
        ("PaimonRun", "shop", "Stalled", "True", "AccessDenied"): 1,
    }


def test_an_object_that_is_deleted_counts_no_more(scraped: Scraped) -> None:
    scraped.put(table("a")).cache.drop(Kind.TABLE, table("a"))
    assert scraped.samples("objects") == {}


HOSTILE = [
    {"conditions": [{"type": "x" * 9, "status": "True", "reason": "AccessDenied"}]},
    {"conditions": [condition("Ready", "Perhaps")]},
    {"conditions": "none"},
    {"conditions": [7, None, []]},
]


@pytest.mark.parametrize("status", HOSTILE)
def test_conditions_that_no_release_writes_make_no_series(scraped: Scraped, status: Manifest) -> None:
    scraped.put(table(**status))
    assert scraped.samples("objects") == {}


def test_unknown_reasons_share_one_series(scraped: Scraped) -> None:
    scraped.put(*(table(f"t{n}", conditions=[condition("Ready", "True", f"Reason{n}")]) for n in range(50)))
    assert scraped.samples("objects") == {("PaimonTable", "shop", "Ready", "True", "Other"): 50}


def schedule(next_: str, reason: str = "RunSucceeded") -> Manifest:
    return {"next": next_, "decision": {"reason": reason, "result": "Waiting", "message": "m"}}


OVERDUE: list[tuple[str, Manifest, float]] = [
    ("a tick that nothing has answered", {"retention": schedule(AN_HOUR_AGO)}, 3600),
    ("a tick of one strategy", {"compaction": {"full": schedule(AN_HOUR_AGO), "minor": schedule(SOON)}}, 3600),
    ("a tick of one write", {"writes": [schedule(SOON), schedule(AN_HOUR_AGO, "AnotherRunIsActive")]}, 3600),
    ("a tick to come", {"retention": schedule(SOON)}, 0),
    ("work that waits for a window", {"retention": schedule(AN_HOUR_AGO, "WaitingForWindow")}, 0),
    ("work that waits for a budget", {"retention": schedule(AN_HOUR_AGO, "BudgetSpent")}, 0),
    ("a suspended table", {"retention": schedule(AN_HOUR_AGO), "conditions": [condition("Suspended", "True")]}, 0),
    ("a stalled table", {"retention": schedule(AN_HOUR_AGO), "conditions": [condition("Stalled", "True")]}, 0),
    ("a time that is none", {"retention": schedule("soon")}, 0),
    ("a memory that is none", {"retention": 7, "writes": {"next": None}}, 0),
]


@pytest.mark.parametrize(("status", "seconds"), [case[1:] for case in OVERDUE], ids=[case[0] for case in OVERDUE])
def test_the_latest_schedule_of_a_namespace_is_reported(scraped: Scraped, status: Manifest, seconds: float) -> None:
    scraped.put(table("a", **status), table("b", retention=schedule(SOON)))
    assert scraped.samples("schedule_overdue_seconds") == {("shop",): seconds}


@pytest.mark.parametrize(
    ("decided_until", "reason", "seconds"),
    [
        (None, "NotNeeded", 3600),
        (NOW - 90, "NotNeeded", 90),
        (NOW + 1, "NotNeeded", 0),
        (NOW - 7200, "NotNeeded", 3600),
        (NOW - 90, "AnotherRunActive", 3600),
    ],
    ids=["unknown", "later than the tick", "now", "earlier than the tick", "a tick that waits"],
)
def test_a_tick_that_was_skipped_but_not_stored_is_not_late(
    scraped: Scraped, decided_until: float | None, reason: str, seconds: float
) -> None:
    if decided_until is not None:
        moment = datetime.fromtimestamp(decided_until, UTC)
        scraped.decided.found(f"{moment.isoformat()} {scraped.decided.scope}")
    decision = {"result": "Skipped", "reason": reason, "message": "m"}
    scraped.put(table("a", retention={**schedule(AN_HOUR_AGO), "decision": decision}))
    assert scraped.samples("schedule_overdue_seconds") == {("shop",): seconds}


@pytest.mark.parametrize(
    ("next_", "seconds"), [("2027-01-15T08:00:05Z", 0), ("2027-01-15T07:59:00Z", 60)], ids=["to come", "past"]
)
def test_after_the_ticks_that_this_process_has_skipped_the_next_one_may_be_late(
    scraped: Scraped, next_: str, seconds: float
) -> None:
    decision = {"result": "Skipped", "reason": "NotNeeded", "message": "m"}
    stored = {"next": AN_HOUR_AGO, "lastDue": AN_HOUR_AGO, "schedule": "0 * * * * UTC", "decision": decision}
    scraped.put(table("a", retention=stored))
    skipped = TableStatus.model_validate({"retention": {**stored, "next": next_}})
    scraped.deferred.note(Key(Kind.TABLE, "shop", "a"), "a", skipped)
    assert scraped.samples("schedule_overdue_seconds") == {("shop",): seconds}


def test_the_worst_sorted_runs_and_the_pod_seconds_are_those_of_the_namespace(scraped: Scraped) -> None:
    scraped.put(
        table("a", health={"sortedRunsMax": 4}, usage={"podSeconds": 10}),
        table("b", health={"sortedRunsMax": 9}, usage={"podSeconds": 5}),
        table("c", namespace="bank", health={"sortedRunsMax": "many"}, usage={"podSeconds": True}),
    )
    assert scraped.samples("sorted_runs_max") == {("shop",): 9}
    assert scraped.samples("namespace_pod_seconds") == {("shop",): 15, ("bank",): 0}


def test_a_table_shows_the_time_of_the_last_success_of_each_operation(scraped: Scraped) -> None:
    writes = [{"name": "a", "lastTime": AN_HOUR_AGO}, {"name": "b", "lastTime": SOON}]
    scraped.put(table(writes=writes, retention={"lastTime": AN_HOUR_AGO}, provision={"lastTime": SOON}))
    assert scraped.samples("table_last_success_timestamp_seconds") == {
        ("shop", "orders", "Write"): NOW + 5,
        ("shop", "orders", "ExpireSnapshots"): NOW - 3600,
    }


def test_series_of_tables_stop_at_the_limit_and_the_rest_is_counted(scraped: Scraped) -> None:
    scraped.put(*(table(f"t{n:02}", retention={"lastTime": SOON}) for n in range(20)))
    shown = [labels[1] for labels in scraped.samples("table_last_success_timestamp_seconds")]
    assert shown == ["t00", "t01", "t02"]
    assert scraped.samples("tables_without_series") == {(): 20 - LIMIT}


def test_the_number_of_series_does_not_depend_on_the_number_of_tables() -> None:
    counts = []
    for tables in (LIMIT, 10 * LIMIT, 1000):
        scraped = Scraped().put(
            *(
                table(f"t{n:04}", retention={"lastTime": SOON, **schedule(SOON)}, health={"sortedRunsMax": n})
                for n in range(tables)
            )
        )
        counts.append(scraped.count())
    assert counts == [counts[0]] * 3


def test_tables_in_the_same_state_share_their_conditions(scraped: Scraped) -> None:
    scraped.put(*(table(f"t{n}") for n in range(100)))
    assert len({id(facts.conditions) for _, facts in scraped.cache.facts(Kind.TABLE)}) == 1


def test_two_reads_within_seconds_compute_once(scraped: Scraped) -> None:
    scraped.put(table("a"))
    before = scraped.samples("objects")
    scraped.put(table("b"))
    scraped.now += KEPT_SECONDS - 1
    assert scraped.samples("objects") == before
    scraped.now += 1
    assert scraped.samples("objects") != before
    scraped.put(table("c"))
    scraped.now -= 3600  # the clock was set back
    assert sum(scraped.samples("objects").values()) == 3


def test_a_kept_part_of_a_listed_object_has_the_facts_of_the_whole() -> None:
    body = table(retention={"lastTime": SOON})
    kept, whole = facts_of(Kind.TABLE, listed(Kind.TABLE, body)), facts_of(Kind.TABLE, body)
    assert kept.conditions is whole.conditions
    assert repr(kept.table) == repr(whole.table)


async def test_a_started_operator_shows_the_listed_objects_and_then_the_changes_without_a_request(
    operator: OperatorInMemory,
) -> None:
    await provisioned(operator)
    ready = ("PaimonTable", "shop", "Ready", "True", "TableMatchesSpec")
    successor = await operator.kill()
    after_list, requests = Scraped(successor.cache), len(successor.store.requests)
    assert after_list.samples("objects")[ready] == 1
    assert len(successor.store.requests) == requests
    await successor.settle()
    successor.store.delete_as_user(Kind.TABLE, "shop", "orders")
    await successor.settle()
    assert Scraped(successor.cache).samples("objects").get(ready) is None
    await successor.stop()
