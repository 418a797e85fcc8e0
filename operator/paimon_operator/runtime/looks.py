"""The last look of an observer at each table, in memory: after a start of the operator the observers report again.

Only a Pod that the operator has made for a catalog reports, and only about the tables of that catalog.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from paimon_contract.looks import MAX_TABLES, LookAnswer, TableToLook
from paimon_operator.api.looks import Findings, TableFinding
from paimon_operator.core.catalog.reachability import reached_warehouse
from paimon_operator.core.ports import Clock, Manifest, PodIdentity
from paimon_operator.core.spec.identity import table_name
from paimon_operator.core.spec.look import Look
from paimon_operator.core.spec.table_head import NamedTable
from paimon_operator.runtime import change_router
from paimon_operator.runtime.cache import Cache
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.tables_in_turns import tables_in_turns

NEWS_EVERY: Final = timedelta(minutes=5)
"""A table that changes all the time is reconciled so often because of its looks. A tick uses the last one anyway."""


@dataclass(frozen=True, slots=True)
class _KeptLook:
    """The last look at a table, and until when its next news wait."""

    look: Look
    quiet_until: datetime


class Looks:
    """The observers and what they have found. `enqueue(table, seconds)` asks for a reconcile."""

    def __init__(
        self, cache: Cache, *, interval_s: int, clock: Clock, enqueue: Callable[[Key, float], None] = lambda *_: None
    ) -> None:
        self._cache, self._interval_s, self._clock, self._enqueue = cache, interval_s, clock, enqueue
        self._catalogs: dict[str, tuple[Key, str]] = {}
        """UID of an observer's Pod -> its catalog, and its name."""
        self._entries: dict[Key, dict[str, _KeptLook]] = {}
        """Catalog -> UID of a table -> the last look at it."""

    def expect(self, catalog: Key, pods: Mapping[str, str]) -> None:
        """Exactly these Pods (UID -> name) are observers of the catalog. Without any, its looks are forgotten."""
        for uid in [uid for uid, (known, _) in self._catalogs.items() if known == catalog]:
            del self._catalogs[uid]
        self._catalogs |= {uid: (catalog, name) for uid, name in pods.items()}
        if not pods:
            self._entries.pop(catalog, None)

    def is_observer(self, uid: str) -> bool:
        """Whether a Pod of this UID is an observer, by its own word."""
        return uid in self._catalogs

    def catalog_of(self, pod: PodIdentity) -> Key | None:
        """The catalog that the Pod observes; None for any other Pod."""
        catalog, name = self._catalogs.get(pod.uid, (None, ""))
        is_same = catalog is not None and (catalog.namespace, name) == (pod.namespace, pod.name)
        return catalog if is_same else None

    def of(self, catalog: Key, uid: str) -> Look | None:
        """The last look at the table of this UID."""
        entry = self._entries.get(catalog, {}).get(uid)
        return None if entry is None else entry.look

    async def receive(self, catalog: Key, findings: Findings, received: datetime) -> LookAnswer:
        """Keeps what was found of the catalog's tables, and answers what to look at."""
        tables = await self._tables_of(catalog)
        known = self._entries.setdefault(catalog, {})
        for uid in known.keys() - tables.keys():
            del known[uid]
        looked_at = received - findings.age
        for uid, found in findings.tables.items():
            if uid in tables:
                known[uid] = self._entry(known.get(uid), tables[uid][0], found, looked_at)
        for uid, snapshot in findings.same.items():
            entry = known.get(uid)
            if entry is not None and _is_same(entry.look, snapshot, looked_at):
                known[uid] = replace(entry, look=replace(entry.look, looked_at=looked_at))
        wanted = (_to_look(uid, named, is_known=uid in known) for uid, (_, named) in tables.items())
        return LookAnswer(interval_seconds=self._interval_s, tables=tuple(wanted))

    def _entry(self, before: _KeptLook | None, table: Key, found: TableFinding, looked_at: datetime) -> _KeptLook:
        look = Look(looked_at=looked_at, measure=found.measure, unknown=found.unknown)
        now = self._clock.now()
        quiet_until = now if before is None else before.quiet_until
        if before is not None and not _is_news(before.look, look):
            return replace(before, look=look)
        delay = max(timedelta(0), quiet_until - now)
        self._enqueue(table, delay.total_seconds())
        return _KeptLook(look, now + delay + NEWS_EVERY if delay == timedelta(0) else quiet_until)

    async def _tables_of(self, catalog: Key) -> dict[str, tuple[Key, NamedTable]]:
        """UID -> key and names of the tables that a run has established, at most those of an answer."""
        found: dict[str, tuple[Key, NamedTable]] = {}
        async for key, body in tables_in_turns(self._cache, catalog):
            named = _established(body) if len(found) < MAX_TABLES else None
            if named is not None:
                found[named.metadata.uid] = (key, named)
        return found


def _established(body: Manifest) -> NamedTable | None:
    return change_router.read(NamedTable, body) if reached_warehouse(body) is not None else None


def _is_same(look: Look, snapshot: int | None, looked_at: datetime) -> bool:
    return look.measure is not None and look.measure.snapshot_id == snapshot and looked_at > look.looked_at


def _is_news(before: Look, now: Look) -> bool:
    """Whether anything but the time, or the words of a reason, has changed."""
    return bool(_values(before) != _values(now))


def _values(look: Look) -> Any:
    return None if look.measure is None else look.measure.model_copy(update={"measured_at": None})


def _to_look(uid: str, named: NamedTable, *, is_known: bool) -> TableToLook:
    wanted = None if is_known else True
    return TableToLook(uid=uid, database=named.spec.database, name=table_name(named), wanted=wanted)
