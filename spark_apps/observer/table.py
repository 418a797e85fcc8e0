"""What the observer knows of one table, and one look at it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Final

from paimon_contract.looks import MAX_REASON
from paimon_contract.result import ResultTable
from paimon_schema.table_schema import TableSchema
from spark_apps.failures.causes import first_line
from spark_apps.metadata.base import MetadataFiles, UnreadableError
from spark_apps.metadata.measurement import of_contents
from spark_apps.metadata.observation import Observation, Observer
from spark_apps.metadata.table_files import TableFiles
from spark_apps.observer.budget import Budget

SCHEMA_EVERY: Final = 10
"""Looks after which the schema is asked for again: a change of an option makes no snapshot."""
IDLE_AFTER: Final = 10
"""Looks without a change after which every second pass leaves the table out."""
QUIET_FOR_MS: Final = 3_600_000
"""A table without a commit for so long is idle from the first look on. A process that begins asks for it less."""
MOST_REST: Final = 32
"""Passes that leave out a table that could not be read many times."""
Found = ResultTable | str
"""The measurement of a table, or why it could not be read."""


@dataclass
class WatchedTable:
    """One table. A pass looks at it in one thread at a time."""

    location: str
    turn: int = 0
    """A number that differs by table: it spreads over the passes what is not done in each of them."""
    schema: TableSchema | None = None
    observation: Observation | None = None
    found: Found | None = None
    reported: Found | None = None
    """What the operator has of it."""
    looked: bool = False
    """Whether the last pass has looked at it."""
    _looks: int = 0
    _idle: int = 0
    _failures: int = 0
    _rest: int = 0
    _schema_of_snapshot: int | None = None
    _is_whole: bool = True
    """Whether the sums of its files are kept."""

    def want(self) -> None:
        """The operator has no look at it: the next pass makes one and reports it."""
        self.reported, self._rest, self._idle = None, 0, 0

    def is_due(self, number: int) -> bool:
        """Whether this pass looks at it. It does where a report was lost: what it had found is too old by now."""
        if self.has_news:
            return True
        if self._rest:
            self._rest -= 1
            return False
        return self._idle < IDLE_AFTER or (number + self.turn) % 2 == 0

    @property
    def has_news(self) -> bool:
        """Whether the operator has something else of it than what was found."""
        return self.found is not None and self.found != self.reported

    def look(self, files: MetadataFiles, budget: Budget) -> bool:
        """Looks at it now. Returns whether it could be read: whatever goes wrong is what was found."""
        self._looks += 1
        try:
            found: Found = self._measured(files, budget)
            self._failures = 0
        except UnreadableError as error:
            found = self._failed(str(error))
        except Exception as error:  # noqa: BLE001  (files of others can hold anything)
            found = self._failed(f"{type(error).__name__}: {error}")
        if self._failures == 1 and isinstance(self.found, ResultTable):
            return False  # (one failure is no news: the storage may have been away for a moment)
        is_same = self.found is not None and _same(found, self.found)
        was_quiet = self.found is None and _is_quiet(self.observation)
        self._idle = IDLE_AFTER if was_quiet else self._idle + 1 if is_same else 0
        self.found, self.looked = self.found if is_same else found, True
        return self._failures == 0

    def _failed(self, why: str) -> str:
        self._failures += 1
        self._rest = min(MOST_REST, 2 ** (self._failures - 1)) - 1
        return first_line(why)[:MAX_REASON] or "unknown"

    def _measured(self, files: MetadataFiles, budget: Budget) -> Found:
        known, schema = self.observation, self._schema_now(files)
        observation = Observer(files, self.location, schema).observe(known)
        of_snapshot = _schema_id(observation)
        if known is not None and of_snapshot != self._schema_of_snapshot:  # (also a table that is gone)
            schema = self._latest_schema(files)
            observation = Observer(files, self.location, schema).observe(observation)
        found = self.found
        if not self._is_known(known, observation, schema) or not isinstance(found, ResultTable):
            if known is not None and not self._is_whole and _is_snapshot_of(known, observation):
                observation = Observer(files, self.location, schema).observe(None)
            found = of_contents(observation.contents, schema)
            observation, self._is_whole = budget.kept_of(known, observation)
        self.observation, self.schema, self._schema_of_snapshot = observation, schema, of_snapshot
        return found

    def _is_known(self, known: Observation | None, now: Observation, schema: TableSchema) -> bool:
        """Whether the last measurement still says how the table is."""
        return known is not None and now.contents is known.contents and schema == self.schema

    def _schema_now(self, files: MetadataFiles) -> TableSchema:
        if self.schema is not None and (self._looks + self.turn) % SCHEMA_EVERY:
            return self.schema
        return self._latest_schema(files)

    def _latest_schema(self, files: MetadataFiles) -> TableSchema:
        known = None if self.schema is None else self.schema.id
        found = TableFiles(files, self.location).latest_schema(known)
        if found is None:
            raise UnreadableError(f"{self.location} holds no table")
        return found


def _is_quiet(observation: Observation | None) -> bool:
    """Whether the last commit is long ago."""
    contents = None if observation is None else observation.contents
    return contents is not None and time.time() * 1000 - contents.snapshot.time_ms > QUIET_FOR_MS


def _schema_id(observation: Observation) -> int | None:
    """The schema that the latest snapshot was committed with."""
    return None if observation.contents is None else observation.contents.snapshot.schema_id


def _is_snapshot_of(known: Observation, now: Observation) -> bool:
    """Whether both are of the same snapshot."""
    return None not in (known.contents, now.contents) and known.latest_id == now.latest_id


def _same(found: Found, before: Found) -> bool:
    """Whether nothing has changed but the time, or the words of a reason."""
    if isinstance(found, ResultTable) and isinstance(before, ResultTable):
        return replace(found, measured_at=None) == replace(before, measured_at=None)
    return isinstance(found, str) and isinstance(before, str)
