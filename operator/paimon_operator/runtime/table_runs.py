"""The runs of one table: whole ones where a decision needs them, and what the cache keeps of finished ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import Phase
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core import naming
from paimon_operator.core.operations import registry
from paimon_operator.core.ports import Kind, Manifest, ObjectStore
from paimon_operator.core.table.companions import named_runs
from paimon_operator.core.table.pruning import FinishedRun
from paimon_operator.runtime.cache import Cache
from paimon_operator.runtime.change_router import table_of
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.reads import Reads
from paimon_operator.runtime.rest import is_over


@dataclass(frozen=True)
class RunsOfTable:
    """See TableObserved."""

    runs: tuple[PaimonRun, ...]
    finished: tuple[FinishedRun, ...] = ()


async def known_runs(table: PaimonTable, cache: Cache, reads: Reads, *, late: bool) -> RunsOfTable:
    """The runs in the cache. A run that the status names and the cache has not is read live, with `late` each of them.

    Raises pydantic's ValidationError for a run that cannot be read.
    """
    named, kept = _named(table), _kept(table, cache)
    over = {name: run for name, run in kept.items() if name not in named and is_over(run)}
    whole = []
    for name in sorted((kept.keys() | named) - over.keys()):
        body = await reads.other(Kind.RUN, table.metadata.namespace, name, live=late and name in named)
        whole += [body] if body is not None and table_of(body) == table.metadata.name else []
    return RunsOfTable(_read(whole), tuple(finished_run(name, run) for name, run in over.items()))


async def live_runs(table: PaimonTable, store: ObjectStore, cache: Cache) -> RunsOfTable:
    """All runs, by a live list of the labelled ones, and a live read of each one without the label.

    Raises pydantic's ValidationError for a run that cannot be read.
    """
    namespace, name = table.metadata.namespace, table.metadata.name
    labels = {naming.TABLE_LABEL: naming.label_value(name)}
    found = {run["metadata"]["name"]: run for run in await store.list(Kind.RUN, namespace, labels)}
    unfinished = {name for name, run in _kept(table, cache).items() if not is_over(run)}
    for unlabelled in sorted((unfinished | _named(table)) - found.keys()):
        run = await store.get(Kind.RUN, namespace, unlabelled)
        found |= {unlabelled: run} if run is not None else {}
    return RunsOfTable(_read(found[run] for run in sorted(found) if table_of(found[run]) == name))


def _named(table: PaimonTable) -> set[str]:
    return {each.name for each in named_runs(table.status)}


def _kept(table: PaimonTable, cache: Cache) -> dict[str, Manifest]:
    """By name, what the cache keeps of the runs that name the table. They may lack its label."""
    keys = cache.runs_of(Key(Kind.TABLE, table.metadata.namespace, table.metadata.name))
    return {key.name: body for key in keys if (body := cache.get(*key)) is not None}


def _read(bodies: Iterable[Manifest]) -> tuple[PaimonRun, ...]:
    return tuple(registry.OPERATIONS.read_run(body) for body in bodies)


def finished_run(name: str, run: Manifest) -> FinishedRun:
    """From the fields that the cache keeps of a run."""
    meta: Mapping[str, Any] = run["metadata"]
    ended = run["status"].get("completionTime") or meta.get("creationTimestamp")
    return FinishedRun(
        name=name,
        uid=meta["uid"],
        phase=Phase(run["status"]["phase"]),
        ended=None if ended is None else datetime.fromisoformat(ended),
        of_operator="trigger" in run["spec"],
        deleting="deletionTimestamp" in meta,
    )
