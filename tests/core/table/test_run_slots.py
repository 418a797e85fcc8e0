"""Places for runs: whose turn it is, in single cases and in random fleets."""

from __future__ import annotations

import random
from collections import Counter
from datetime import datetime, timedelta

import pytest

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.run.status import RunTrigger
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import ActiveRun, QueuedRun, TableStatus
from paimon_operator.core.table.run_slots import RunLimit, RunSlots
from tests.support import builders
from tests.support.random_examples import examples

NOW = builders.NOW
AHEAD = timedelta(minutes=1)


def catalog(name: str = "lake", limit: int | None = None, namespace: str = "shop") -> PaimonCatalog:
    return builders.catalog(name, namespace, limits={"maxConcurrentRuns": limit})


def table(
    name: str,
    catalog: str = "lake",
    *,
    active: bool = False,
    waits: datetime | None = None,
    blocked: bool | None = None,
    unknown: bool | None = None,
    namespace: str = "shop",
) -> PaimonTable:
    found = builders.table(namespace=namespace, catalogRef={"name": catalog})
    run = ActiveRun(
        name=f"{name}-run", type="Compact", trigger=RunTrigger.SCHEDULE, blocked=blocked, result_unknown=unknown
    )
    queued = QueuedRun(type="Compact", since=waits, message="full") if waits is not None else None
    status = TableStatus(active_run=run if active else None, queued_run=queued)
    metadata = found.metadata.model_copy(update={"name": name, "uid": f"uid-{name}"})
    return found.model_copy(update={"metadata": metadata, "status": status})


def names(keys: frozenset[tuple[str, str]]) -> set[str]:
    return {name for _, name in keys}


def test_without_a_limit_everything_starts() -> None:
    slots = RunSlots()
    for number in range(100):
        assert slots.stopped_by(table(f"t{number}"), catalog(), NOW) is None
        slots.put(table(f"t{number}", active=True), catalog())


@pytest.mark.parametrize(
    ("sentence", "operator", "of_catalog", "words"),
    [
        ("the catalog's", None, 2, "limits.maxConcurrentRuns of PaimonCatalog lake is 2"),
        ("the operator's", 2, None, "limits.maxConcurrentRuns of the operator is 2"),
        ("the catalog's before the operator's", 2, 2, "limits.maxConcurrentRuns of PaimonCatalog lake is 2"),
    ],
)
def test_the_limit_that_stops_a_run_is_named(
    sentence: str, operator: int | None, of_catalog: int | None, words: str
) -> None:
    slots = RunSlots(operator)
    lake = catalog(limit=of_catalog)
    slots.put(table("a", active=True), lake)
    assert slots.stopped_by(table("c"), lake, NOW) is None
    slots.put(table("b", active=True), lake)
    assert str(slots.stopped_by(table("c"), lake, NOW)) == words, sentence


@pytest.mark.parametrize(
    ("sentence", "holds_no_place"),
    [
        ("a run that only a human gets on", table("a", active=True, blocked=True)),
        ("a run whose result is unknown", table("a", active=True, unknown=True)),
        ("a table without a run", table("a")),
    ],
)
def test_what_takes_no_place(sentence: str, holds_no_place: PaimonTable) -> None:
    slots, lake = RunSlots(), catalog(limit=1)
    slots.put(holds_no_place, lake)
    assert slots.stopped_by(table("b"), lake, NOW) is None, sentence


def test_the_table_that_has_waited_longest_starts_first() -> None:
    slots, lake = RunSlots(), catalog(limit=1)
    slots.put(table("busy", active=True), lake)
    slots.put(table("late", waits=NOW), lake)
    slots.put(table("early", waits=NOW - AHEAD), lake)
    assert names(slots.put(table("busy"), lake)) == {"early"}
    assert slots.stopped_by(table("late", waits=NOW), lake, NOW) is not None
    assert slots.stopped_by(table("new"), lake, NOW) is not None
    assert slots.stopped_by(table("early", waits=NOW - AHEAD), lake, NOW) is None
    assert slots.is_next("shop", "early")
    assert not slots.is_next("shop", "late")


def test_the_queue_of_a_full_catalog_keeps_no_place_of_the_operator_from_other_catalogs() -> None:
    slots, full, other = RunSlots(2), catalog("full", limit=1), catalog("other")
    slots.put(table("busy", "full", active=True), full)
    for number in range(5):
        slots.put(table(f"t{number}", "full", waits=NOW - AHEAD), full)
    assert slots.stopped_by(table("o", "other"), other, NOW) is None


def test_a_place_that_was_reserved_is_taken_until_the_next_look() -> None:
    slots, lake = RunSlots(), catalog(limit=1)
    slots.reserve(table("a"))
    slots.put(table("a"), lake)  # an older observation
    assert slots.stopped_by(table("b"), lake, NOW) is not None
    slots.confirm("shop", "a")
    slots.put(table("a"), lake)
    assert slots.stopped_by(table("b"), lake, NOW) is None


def test_a_table_that_could_not_be_stored_keeps_no_turn_from_others() -> None:
    slots, lake = RunSlots(), catalog(limit=1)
    slots.put(table("a", waits=NOW - AHEAD), lake)
    slots.put(table("b", waits=NOW), lake)
    assert names(slots.withdraw("shop", "a")) == {"b"}


def test_an_active_run_keeps_its_place_when_its_table_could_not_be_stored() -> None:
    slots, lake = RunSlots(), catalog(limit=1)
    slots.put(table("a", active=True), lake)
    slots.put(table("b", waits=NOW), lake)
    assert slots.withdraw("shop", "a") == frozenset()
    assert slots.stopped_by(table("b", waits=NOW), lake, NOW) is not None


def test_a_start_that_could_not_be_stored_gives_its_place_back() -> None:
    slots, lake = RunSlots(), catalog(limit=1)
    slots.reserve(table("a"))
    slots.put(table("b", waits=NOW), lake)
    assert names(slots.withdraw("shop", "a")) == {"b"}


def test_a_higher_limit_is_used_at_once() -> None:
    slots = RunSlots()
    slots.put(table("a", active=True), catalog(limit=1))
    slots.put(table("b", waits=NOW), catalog(limit=1))
    slots.put(table("c", waits=NOW), catalog(limit=1))
    assert names(slots.put(table("a", active=True), catalog(limit=2))) == {"b"}
    assert names(slots.put(table("a", active=True), catalog())) == {"b", "c"}


def test_a_run_that_ends_can_be_followed_by_one_of_the_same_table_if_nobody_waits() -> None:
    slots, lake = RunSlots(1), catalog(limit=1)
    slots.put(table("a", active=True), lake)
    assert slots.stopped_by(table("a", active=True), lake, NOW) is None
    slots.put(table("b", waits=NOW - AHEAD), lake)
    assert slots.stopped_by(table("a", active=True), lake, NOW) is not None


def test_the_runs_of_one_namespace_never_keep_another_one_from_a_run() -> None:
    slots, lake, pond = RunSlots(2), catalog(), catalog(namespace="web")
    for number in range(2):
        slots.put(table(f"a{number}", active=True), lake)
    for number in range(1000):
        slots.put(table(f"t{number}", waits=NOW - AHEAD), lake)
    assert slots.stopped_by(table("small", namespace="web"), pond, NOW) is None
    slots.put(table("small", waits=NOW, namespace="web"), pond)
    assert slots.put(table("next", waits=NOW + AHEAD, namespace="web"), pond) == {("web", "small")}, "no second one"
    assert slots.stopped_by(table("next", namespace="web"), pond, NOW + AHEAD) == RunLimit(2)
    slots.reserve(table("small", namespace="web"))
    assert names(slots.next_tables()) == set()
    slots.put(table("a0"), lake)
    assert names(slots.next_tables()) == set(), "three runs were active, and two are"


def test_the_only_run_of_a_namespace_is_followed_by_its_table_that_has_waited_longest() -> None:
    slots, lake, pond = RunSlots(1), catalog(), catalog(namespace="web")
    slots.put(table("r1", active=True), lake)
    slots.put(table("a", active=True, namespace="web"), pond)
    slots.put(table("b", waits=NOW - AHEAD, namespace="web"), pond)
    assert slots.stopped_by(table("a", active=True, namespace="web"), pond, NOW) is not None
    assert slots.put(table("a", waits=NOW, namespace="web"), pond) == {("web", "b")}


def test_a_namespace_gets_its_share_of_the_places_that_become_free() -> None:
    slots, lake, pond = RunSlots(4), catalog(), catalog(namespace="web")
    for number in range(4):
        slots.put(table(f"a{number}", active=True), lake)
        slots.put(table(f"t{number}", waits=NOW), lake)
        slots.put(table(f"s{number}", waits=NOW + AHEAD, namespace="web"), pond)
    for number in range(2):
        assert slots.put(table(f"a{number}"), lake) == {("web", f"s{number}")}
        slots.reserve(table(f"s{number}", namespace="web"))
    assert slots.put(table("a2"), lake) == {("shop", "t0")}, "both have two places, and its turn came first"


class Fleet:
    """Random tables in random catalogs of several namespaces, which start, wait and end as the limits allow."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.maximum = dice.choice([None, 1, 2, 5])
        places = [(namespace, name) for namespace in ("shop", "web") for name in "pq"][: dice.randint(1, 4)]
        self.catalogs = {key: catalog(key[1], dice.choice([None, 1, 2, 3]), key[0]) for key in places}
        self.slots = RunSlots(self.maximum)
        self.now = NOW
        self.of = {f"t{number}": dice.choice(sorted(self.catalogs)) for number in range(dice.randint(1, 12))}
        self.active: set[str] = set()
        self.waiting: dict[str, datetime] = {}
        self.starts: list[str] = []
        """The namespaces of all starts, in order."""

    def seen(self, name: str) -> PaimonTable:
        namespace, of_catalog = self.of[name]
        waits = self.waiting.get(name)
        return table(name, of_catalog, active=name in self.active, waits=waits, namespace=namespace)

    def look(self, name: str) -> None:
        """The table is reconciled and wants to run."""
        since = min(self.waiting.get(name, self.now), self.now)
        starts = self.slots.stopped_by(self.seen(name), self.catalogs[self.of[name]], since) is None
        assert starts == (name in self.served({**self.waiting, name: since})), "not its turn"
        if starts:
            self.waiting.pop(name, None)
            self.active.add(name)
            self.starts.append(self.of[name][0])
            self.slots.reserve(self.seen(name))
            self.slots.confirm(self.of[name][0], name)
        else:
            self.waiting[name] = since
        self.store(name)

    def store(self, name: str) -> None:
        self.slots.put(self.seen(name), self.catalogs[self.of[name]])

    def served(self, waiting: dict[str, datetime]) -> set[str]:
        """Who may start, found the long way: the free places are given away one by one."""
        free = {key: self.free_of(key) for key in self.catalogs}
        left = 99 if self.maximum is None else self.maximum - len(self.active)
        using = Counter(self.of[name][0] for name in self.active)
        served: set[str] = set()
        while True:
            turns = sorted((since, name) for name, since in waiting.items() if name not in served)
            able = [(since, name) for since, name in turns if free[self.of[name]] > 0]
            if left <= 0:  # only for a namespace without an active run
                able = [(since, name) for since, name in able if not using[self.of[name][0]]]
            if not able:
                break
            fewest = min(able, key=lambda turn: (using[self.of[turn[1]][0]], self.last_start(turn[1]), turn))[1]
            served.add(fewest)
            free[self.of[fewest]] -= 1
            using[self.of[fewest][0]] += 1
            left -= 1
        return served

    def last_start(self, name: str) -> int:
        """When the namespace of a table last had a start; 0 for never."""
        return max((number for number, each in enumerate(self.starts, 1) if each == self.of[name][0]), default=0)

    def free_of(self, key: tuple[str, str]) -> int:
        limits = self.catalogs[key].spec.limits
        maximum = 99 if limits is None else limits.max_concurrent_runs or 99
        return maximum - sum(1 for each in self.active if self.of[each] == key)

    def end(self, name: str) -> None:
        self.active.discard(name)
        self.store(name)

    def check(self) -> None:
        """No limit is exceeded, and no place is free that somebody waits for."""
        using = Counter(self.of[name][0] for name in self.active)
        assert self.maximum is None or len(self.active) < self.maximum + len(using)
        assert all(self.free_of(key) >= 0 for key in self.catalogs)
        assert names(self.slots.next_tables()) == self.served(self.waiting)


@pytest.mark.worlds
def test_in_random_fleets_no_limit_is_exceeded_and_no_free_place_is_kept() -> None:
    starts = 0
    for seed in range(examples(300)):
        fleet = Fleet(random.Random(seed))  # noqa: S311  (not for a secret)
        for _ in range(60):
            fleet.now += timedelta(seconds=fleet.dice.randint(0, 90))
            name = fleet.dice.choice(sorted(fleet.of))
            if name in fleet.active:
                fleet.end(name)
            elif fleet.dice.random() < 0.9:
                fleet.look(name)
            else:  # suspended, or no longer due
                fleet.waiting.pop(name, None)
                fleet.store(name)
            fleet.check()
            starts += len(fleet.active)
        while fleet.waiting:  # everybody gets a turn
            for name in sorted(fleet.active):
                fleet.end(name)
            turns = names(fleet.slots.next_tables())
            assert turns, "somebody waits, and nobody is next"
            for name in sorted(turns):
                fleet.look(name)
            fleet.check()
    assert starts > 0
