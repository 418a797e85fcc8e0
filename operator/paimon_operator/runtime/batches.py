"""Which waiting runs share a driver Pod, and the Pods that exist.

All of it is in memory and advice alone: whether a run's turn begins is decided by its reconcile, from live reads. After
a restart, the runs that still wait are put together again, and a Pod that exists already asks for them as before.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from paimon_contract.turns import MAX_JOBS, TurnOf
from paimon_operator.api.base import rfc3339
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.core.config import SharingFacts
from paimon_operator.core.launch.batch_pod import TURNS_FOR_S, BatchMember, SharedPod, batch_pod, fits, read_batch
from paimon_operator.core.launch.driver_pod import Launch
from paimon_operator.core.ports import Clock, Kind, Manifest, ObjectStore
from paimon_operator.core.run.observed import Sharing
from paimon_operator.core.run.outcome import ran_out_of_memory
from paimon_operator.core.run.pod import PodObserved, read_pod
from paimon_operator.errors import KubernetesError
from paimon_operator.runtime.keys import Key, key_of

PATIENCE: Final = timedelta(minutes=2)
"""A run starts alone when its Pod has made no progress for so long: it was created, has started, or has asked."""
NAMED_AFTER: Final = timedelta(seconds=20)
"""Age of a shared Pod from which its waiting runs name it: before that, it would cost each run a write.

It is shorter than MISSED_EVENT_REQUEUE, after which they are reconciled again.
"""
UNSHARED_FOR: Final = timedelta(minutes=10)
"""The runs of a catalog start alone for so long after a Pod that could not reach us, or that had too little memory."""
LONGEST_WINDOW: Final = timedelta(seconds=30)
"""However many still come, a run waits no longer for companions, or for the window if that is longer."""
_CREATING: Final = ""
"""In place of the UID of a Pod that is being created."""
_log = logging.getLogger(__name__)


class StartTimer(Protocol):
    """`loop.call_later`."""

    def __call__(
        self, delay: float, callback: Callable[[_Group, _Waiting], None], group: _Group, waiting: _Waiting, /
    ) -> object: ...


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A run that waits for others to share a Pod with."""

    run: Key
    catalog: PaimonCatalog
    member: BatchMember
    launch: Launch
    longest: timedelta
    """How long its turn may take, with the time until the Pod has started and ends by itself."""


@dataclass(frozen=True)
class _Group:
    """Runs that can share a Pod: of one catalog, with the same launch."""

    catalog: Key
    launch_hash: str
    only_with: str
    """See BatchMember."""


@dataclass
class _Waiting:
    """The runs of a group that wait for companions."""

    since: datetime
    latest: datetime
    """When the latest one came."""
    offers: dict[Key, Offer] = field(default_factory=dict)


@dataclass
class _KnownPod:
    """A Pod that has not ended."""

    pod: SharedPod
    catalog: Key | None
    """The catalog, for a Pod that this process has created."""
    since: datetime
    """When this process has learned of it."""
    progress: datetime
    started: bool = False
    has_asked: bool = False
    deleting: bool = False
    in_turn: set[str] = field(default_factory=set)
    """UIDs of the runs whose turn is about to begin or has begun, and whose result is not stored."""


class Batches:
    """The offers and the Pods. Without `facts`, every run starts alone. `enqueue(run)` asks for a reconcile."""

    def __init__(
        self,
        store: ObjectStore,
        *,
        facts: SharingFacts | None,
        clock: Clock,
        call_later: StartTimer,
        enqueue: Callable[[Key], None],
        on_created: Callable[[int], None] = lambda _: None,
    ) -> None:
        """`on_created` is called with the number of runs of each Pod."""
        self._store, self._facts, self._clock = store, facts, clock
        self._call_later, self._enqueue, self._on_created = call_later, enqueue, on_created
        self._groups: dict[_Group, _Waiting] = {}
        self._pods: dict[str, _KnownPod] = {}
        self._pod_of: dict[Key, str] = {}
        """A run -> UID of the Pod in which it has a turn."""
        self._alone: dict[Key, str] = {}
        """Runs that start alone, with their UIDs."""
        self._ended: dict[str, str] = {}
        """UIDs of the Pods that have ended and still exist, with their namespaces."""
        self._unshared: dict[Key, datetime] = {}
        """Catalogs -> until when their runs start alone."""
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def is_enabled(self) -> bool:
        """Whether runs may share a Pod."""
        return self._facts is not None

    @property
    def is_creating(self) -> bool:
        """Whether a Pod is being created."""
        return bool(self._tasks)

    def sharing(self, run: Key, uid: str, catalog: Key) -> Sharing | None:
        """Whether the run may wait for a shared Pod; None: it starts alone."""
        now = self._clock.now()
        if self._facts is None or self._alone.get(run) == uid:
            return None
        known = self._pods.get(self._pod_of.get(run, ""))
        if known is None:
            return None if now < self._unshared.get(catalog, now) else Sharing()
        if now - known.progress < PATIENCE:
            return Sharing(pod=known.pod.name if now - known.since >= NAMED_AFTER else None)
        self._start_alone(run, uid)
        return None

    def offer(self, offer: Offer) -> None:
        """The run waits. Its Pod is created once it is full, or no other run has come for the time of the window.

        A hundred runs that are due together come over seconds: each of them is created first.
        """
        if self._facts is None or offer.run in self._pod_of:
            return
        catalog, member = key_of(Kind.CATALOG, _body_of(offer.catalog)), offer.member
        group = _Group(catalog, member.launch_hash, member.only_with)
        waiting, now = self._groups.get(group), self._clock.now()
        if waiting is not None and waiting.offers.pop(offer.run, None) is None:
            waiting.latest = now  # a run that is offered again extends nothing
        self.withdraw(offer.run)
        if waiting is None or not fits((each.member for each in waiting.offers.values()), member):
            self._form(group)
            waiting = self._groups[group] = _Waiting(now, now)
            self._call_later(self._facts.window_s, self._end_window, group, waiting)
        waiting.offers[offer.run] = offer
        if len(waiting.offers) == MAX_JOBS:
            self._form(group)

    def withdraw(self, run: Key) -> None:
        """The run does not wait for others any more."""
        for group, waiting in list(self._groups.items()):
            if waiting.offers.pop(run, None) is not None and not waiting.offers:
                del self._groups[group]

    def forget(self, run: Key) -> None:
        """The run has an attempt, or is gone."""
        self.withdraw(run)
        self._alone.pop(run, None)
        self._pod_of.pop(run, None)

    def pod(self, uid: str) -> SharedPod | None:
        """The shared Pod of this UID that has not ended."""
        known = self._pods.get(uid)
        return None if known is None else known.pod

    def has_ended(self, uid: str) -> bool:
        """Whether the shared Pod of this UID is known to have ended, which does not change."""
        return uid in self._ended

    def keep_ended(self, namespace: str, uids: Set[str]) -> None:
        """Forgets the Pods of the namespace that do not exist any more: a watch may have lost that one was deleted."""
        self._ended = {uid: of for uid, of in self._ended.items() if of != namespace or uid in uids}

    def record_begin(self, pod: str, run: str) -> None:
        """The turn of the run with this UID is about to begin in the Pod of this UID."""
        if pod in self._pods:
            self._pods[pod].in_turn.add(run)

    def record_end(self, pod: str, run: str) -> None:
        """The result of the turn is stored. The driver does nothing more for the run."""
        if pod in self._pods:
            self._pods[pod].in_turn.discard(run)

    def may_perform(self, pod: SharedPod, name: str) -> bool:
        """Whether a turn of a run of this name may be in progress. Only the process that made the Pod can deny it."""
        known = self._pods.get(pod.uid)
        if known is None or known.catalog is None:
            return True
        uids = {uid for uid, job in pod.jobs.items() if json.loads(job)["run"]["name"] == name}
        return bool(known.in_turn & uids)

    def is_deleting(self, pod: SharedPod) -> bool:
        """Whether the Pod is being deleted: no turn begins there any more."""
        known = self._pods.get(pod.uid)
        return known is not None and known.deleting

    def record_progress(self, pod: SharedPod) -> None:
        """The driver of the Pod has asked for a turn."""
        known = self._pods.get(pod.uid)
        if known is not None:
            known.progress, known.has_asked = self._clock.now(), True

    def record_turn(self, pod: SharedPod, run: TurnOf, *, begins: bool) -> None:
        """The Pod does not ask for the run again. A run whose turn does not begin waits for another Pod."""
        key = Key(Kind.RUN, pod.namespace, run.name)
        if self._pod_of.get(key) == pod.uid:
            del self._pod_of[key]
        if not begins:
            self._enqueue(key)

    def observe(self, event: str | None, body: Manifest) -> set[Key]:
        """What to reconcile after an event of a shared Pod: the Pod itself, and once it has ended its runs."""
        pod = read_batch(body)
        if pod is None:
            return {key_of(Kind.POD, body)}
        phase = (body.get("status") or {}).get("phase")
        if event != "DELETED" and phase not in ("Succeeded", "Failed"):
            known = self._known(pod)
            known.deleting = "deletionTimestamp" in body["metadata"]
            if phase == "Running" and not known.started:
                known.started, known.progress = True, self._clock.now()
            return {key_of(Kind.POD, body)}
        known_before, ended = self._pods.pop(pod.uid, None), None if event == "DELETED" else read_pod(body)
        if ended is not None and ended.ended:
            self._ended[pod.uid] = pod.namespace
        else:
            self._ended.pop(pod.uid, None)
        self._close(pod.uid, known_before, ended)
        runs: Iterable[str] = () if known_before is None else pod.runs
        return {key_of(Kind.POD, body), *(Key(Kind.RUN, pod.namespace, run) for run in runs)}

    def _known(self, pod: SharedPod) -> _KnownPod:
        now = self._clock.now()
        return self._pods.setdefault(pod.uid, _KnownPod(pod, None, since=now, progress=now))

    def _close(self, uid: str, known: _KnownPod | None, ended: PodObserved | None) -> None:
        """The Pod has no turns any more. `ended` is how it has ended; None: it is gone."""
        for run in [run for run, pod in self._pod_of.items() if pod == uid]:
            del self._pod_of[run]
        if known is None or known.catalog is None or ended is None:
            return
        if known.started and not known.has_asked:
            self._stop_sharing(known.catalog, f"pod {known.pod.name} has ended without a request")
        elif ran_out_of_memory(ended):
            self._stop_sharing(known.catalog, f"pod {known.pod.name} has run out of memory")

    def _stop_sharing(self, catalog: Key, why: str) -> None:
        now = self._clock.now()
        still = {each: until for each, until in self._unshared.items() if now < until}
        self._unshared = {**still, catalog: now + UNSHARED_FOR}
        _log.warning("%s: runs of %s share no Pod now", why, catalog)

    def _end_window(self, group: _Group, waiting: _Waiting) -> None:
        """Waits for the window of the latest run, unless the first one has waited for long."""
        if self._facts is None or self._groups.get(group) is not waiting:
            return
        window = timedelta(seconds=self._facts.window_s)
        closes = min(waiting.latest + window, waiting.since + max(window, LONGEST_WINDOW))
        left = (closes - self._clock.now()).total_seconds()
        if left > 0:
            self._call_later(left, self._end_window, group, waiting)
        else:
            self._form(group)

    def _form(self, group: _Group) -> None:
        """Creates the Pod of the runs that wait. A run without companions starts alone."""
        formed = self._groups.pop(group, None)
        waiting = sorted(formed.offers.values() if formed else (), key=lambda offer: offer.member.place)
        if len(waiting) == 1:
            self._start_alone(waiting[0].run, waiting[0].member.run.uid)
            self._enqueue(waiting[0].run)
        elif waiting:
            self._pod_of |= {each.run: _CREATING for each in waiting}
            task = asyncio.get_running_loop().create_task(self._create(group, waiting))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _create(self, group: _Group, offers: list[Offer]) -> None:
        first, longest = offers[0], int(max(each.longest for each in offers).total_seconds())
        url = self._facts.url if self._facts is not None else ""
        body = batch_pod(
            first.catalog,
            first.launch,
            [each.member for each in offers],
            url=url,
            deadline_s=TURNS_FOR_S + longest,
            own_deadline_s=TURNS_FOR_S + longest,
            distinction=rfc3339(self._clock.now()),
        )
        created: SharedPod | None = None
        try:
            created = read_batch(await self._store.create(Kind.POD, group.catalog.namespace, body))
        except KubernetesError as error:
            _log.warning("%d runs of %s share no Pod: %s", len(offers), group.catalog, error)
        finally:
            self._record_created(group, offers, created)

    def _record_created(self, group: _Group, offers: list[Offer], created: SharedPod | None) -> None:
        """Assigns the runs to their Pod. Without one, each starts alone, and reports itself what is refused."""
        if created is not None:
            known = self._known(created)
            known.catalog = group.catalog
            self._on_created(len(offers))
            _log.info("%d runs of %s share pod %s", len(offers), group.catalog, created.name)
        for each in offers:
            if created is None:
                self._start_alone(each.run, each.member.run.uid)
            else:
                self._pod_of[each.run] = created.uid
            self._enqueue(each.run)

    def _start_alone(self, run: Key, uid: str) -> None:
        self._pod_of.pop(run, None)
        self._alone[run] = uid


def _body_of(catalog: PaimonCatalog) -> Manifest:
    return {"metadata": {"namespace": catalog.metadata.namespace, "name": catalog.metadata.name}}
