"""An operator whose watches are late, lose events, repeat old ones and mix their order, and that is killed at a write.

These are the patterns of Sieve (OSDI 2022): a process that observes a stale state, that does not observe a state, and
that is interrupted between two writes. A lost event is healed by the next list, as by the resync or a new watch.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from paimon_operator.core.config import SharingFacts
from paimon_operator.core.naming import is_batch
from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.runtime.cache import DELIVERED
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, has_ended
from tests.support import end_state, pods
from tests.support.object_store import Json, ObjectStore
from tests.support.virtual_time import VirtualTime


class User(Protocol):
    """What the acts of a workload need."""

    def put(self, body: Manifest) -> object:
        """Creates the object or replaces its spec."""

    def delete_as_user(self, kind: Kind, namespace: str, name: str) -> object:
        """Deletes the object as `kubectl delete` does."""


Act = Callable[[User], object]
Event = tuple[Kind, str, Json]
ROUNDS = 32
"""Rounds of one plan. The disturbances end after half of them, so that all work can end."""
RESULTS: dict[str, dict[str, Any]] = {
    "Provision": {"created": True},
    "Write": {"write": {"rows": 12, "files": 1}},
    "Drop": {"dropped": True},
}
"""What a driver reports, by the type of its run."""


@dataclass
class OneDriverStore(ObjectStore):
    """Records each driver of one run that is created while another driver works on the same physical table."""

    violations: list[str] = field(default_factory=list)
    busy: Callable[[], set[str]] = set
    """Tables on which the drivers of shared Pods work."""

    async def create(self, kind: Kind, namespace: str, body: Manifest) -> Manifest:
        if kind is Kind.POD and not is_batch(body):
            place = self.place_of(namespace, body)
            running = {name: self.peek(Kind.POD, namespace, name) for name in self.names(Kind.POD)}
            others = {name: pod for name, pod in running.items() if runs(pod) and not is_batch(pod or {})}
            doubles = [name for name, pod in others.items() if self.place_of(namespace, pod) == place]
            doubles += [f"a turn of {name}" for name in self.busy() if name == place]
            self.violations += [f"{body['metadata']['name']} beside {name}" for name in doubles]
        return await super().create(kind, namespace, body)

    def place_of(self, namespace: str, pod: Manifest | None) -> str | None:
        """The physical table that the only run of a driver works on."""
        owner = ((pod or {}).get("metadata") or {}).get("ownerReferences") or [{}]
        run = self.peek(Kind.RUN, namespace, owner[0].get("name", "")) or {}
        table = self.peek(Kind.TABLE, namespace, ((run.get("spec") or {}).get("tableRef") or {}).get("name", "")) or {}
        found: str | None = (table.get("spec") or {}).get("table") or (table.get("metadata") or {}).get("name")
        return found


def runs(pod: Manifest | None) -> bool:
    """Whether a Pod has not ended."""
    return ((pod or {}).get("status") or {}).get("phase") not in ("Succeeded", "Failed")


@dataclass
class Disturbance:
    """Decides what becomes of each event. Without `dice`, all are delivered at once."""

    dice: random.Random | None
    deliver: Callable[[Kind, str, Json], None] = lambda *_: None
    held: list[Event] = field(default_factory=list)
    delivered: list[Event] = field(default_factory=list)

    def __call__(self, kind: Kind, event: str, body: Json) -> None:
        if kind not in DELIVERED:
            return
        chance = 1.0 if self.dice is None else self.dice.random()
        if chance < 0.15:
            return  # lost
        if chance < 0.45:
            self.held.append((kind, event, body))
            return
        self.deliver(kind, event, body)
        self.delivered.append((kind, event, body))

    def release(self) -> None:
        """Delivers the late events in any order, and some old ones again. A deletion is never repeated by a watch."""
        late, self.held = self.held, []
        if self.dice is not None:
            again = [each for each in self.delivered if each[1] != "DELETED"]
            late += self.dice.sample(again, min(3, len(again)))
            self.dice.shuffle(late)
        for each in late:
            self.deliver(*each)

    def end(self) -> None:
        """From now on all events are delivered."""
        self.dice = None
        self.release()


class World:
    """One operator, its objects, a kubelet and a user, in rounds."""

    sharing: SharingFacts | None = None
    """How runs share Pods; None: each has its own."""
    kills_to_the_end = False
    """Whether kills go on after the disturbances."""

    def __init__(self, acts: Sequence[tuple[int, Act]], dice: random.Random | None, *, kills: bool = False) -> None:
        self.acts, self.dice, self.kills = acts, dice, kills and dice is not None
        self.time = VirtualTime()
        self.store = OneDriverStore(self.time)
        self.disturbance = Disturbance(dice)
        self.stages: dict[str, int] = {}
        self.performed: list[tuple[str, str]] = []
        """Type and name of each run whose driver has ended by itself."""

    async def run(self) -> Self:
        """All rounds, with the operator that begins and ends with them. Returns itself."""
        async with self:
            for number in range(ROUNDS):
                if number == ROUNDS // 2:
                    self.disturbance.end()
                    self.kills &= self.kills_to_the_end
                await self.round(number)
        return self

    async def __aenter__(self) -> Self:
        self.operator = await OperatorInMemory(store=self.store, time=self.time, sharing=self.sharing).start()
        self._attach(self.operator)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.operator.stop()

    def _attach(self, operator: OperatorInMemory) -> None:
        self.disturbance.deliver = operator._watch
        self.disturbance.held.clear()
        self.disturbance.delivered.clear()
        self.store.watch = self.disturbance

    async def round(self, number: int) -> None:
        """The acts of this round, and what operator, kubelet and clock make of them."""
        if self.kills and self.dice is not None and self.dice.random() < 0.5:
            self.store.kill_at(self.dice.randrange(6), carried_out=self.dice.random() < 0.5)
        for at, act in self.acts:
            if at == number:
                act(self.store)
        await self._settle()
        await self.drive()
        await self._settle()
        self.disturbance.release()
        self.time.advance(20)
        await self._settle()
        if number % 4 == 3:
            await self._list()

    async def _settle(self) -> None:
        await self.operator.settle()
        if self.store.dead:
            self.store.revive()
            self.operator = await self.operator.kill()
            self._attach(self.operator)
            self.disturbance.held += [(Kind.POD, "ADDED", body) for body in self._pods()]  # its first list is late too
            await self.operator.settle()
        if not self.kills:
            self.store.revive()

    async def _list(self) -> None:
        """The resync, and a new watch of Pods."""
        if self.store.dead:
            return
        await self.operator.resync.catch_up()
        for body in self._pods():
            self.operator.router.on_event(Kind.POD, None, body)
        await self._settle()

    def _pods(self) -> Sequence[Json]:
        return self._all(Kind.POD)

    async def drive(self) -> None:
        """The kubelet's next step for each Pod that has not ended."""
        for name in self.store.names(Kind.POD):
            body = self.store.peek(Kind.POD, SHOP, name) or {}
            if has_ended(self.operator, name) or is_batch(body):
                continue
            stage = self.stages[name] = self.stages.get(name, -1) + 1
            if body["metadata"].get("deletionTimestamp"):
                self.store.set_status(Kind.POD, SHOP, name, pods.ended(143, finished=self.time.now()))
            elif stage < 2:
                self.store.set_status(Kind.POD, SHOP, name, [pods.waiting(), pods.running(self.time.now())][stage])
            else:
                self._end(name, body)

    def _end(self, name: str, pod: Json) -> None:
        owner = pod["metadata"]["ownerReferences"][0]["name"]
        run = self.store.peek(Kind.RUN, SHOP, owner) or {"spec": {"type": "gone"}}
        type_ = run["spec"]["type"]
        self.performed.append((type_, owner))
        self.store.set_status(Kind.POD, SHOP, name, pods.ended(0, _result(owner, type_), finished=self.time.now()))

    def state(self) -> list[end_state.Left]:
        """What is left."""
        objects = [end_state.of_object(body) for kind in (Kind.TABLE, Kind.CATALOG) for body in self._all(kind)]
        return [*objects, *end_state.of_runs(self._all(Kind.RUN)), *self.pods_left()]

    def pods_left(self) -> list[end_state.Left]:
        """The Pods, and the jobs that are stored for them."""
        return [*end_state.of_pods(self._pods()), end_state.of_config_maps(self._all(Kind.CONFIG_MAP))]

    def _all(self, kind: Kind) -> Sequence[Json]:
        return [self.store.peek(kind, SHOP, name) or {} for name in self.store.names(kind)]

    def active_runs(self) -> list[tuple[object, ...]]:
        """Tables with a run that has not ended."""
        names = ((body["metadata"]["name"], body.get("status") or {}) for body in self._all(Kind.TABLE))
        return [(name,) for name, status in names if "activeRun" in status]


def _result(run: str, type_: str) -> str:
    return json.dumps({"version": 1, "run": run, "operation": type_, "ok": True, **RESULTS.get(type_, {})})
