"""Passes over all tables of the catalog, in a few threads."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from paimon_contract.job import JobCatalog, JobTable
from paimon_contract.looks import TableToLook
from spark_apps.metadata.base import MetadataFiles
from spark_apps.metadata.table_files import place_of
from spark_apps.observer.budget import Budget
from spark_apps.observer.table import MOST_REST, WatchedTable

THREADS: Final = 4
"""Looks at the same time. Each mostly waits for the storage, and holds at most one file in memory."""
MOST_FAILED: Final = 20
"""Failed looks in a row that end a pass."""
BLIND_PASSES: Final = MOST_REST
"""Passes without a readable table after which the process ends: a new container has the Secret as it is by then."""


@dataclass
class Watched:
    """The tables of a catalog, by the UID of their PaimonTable."""

    catalog: JobCatalog
    files: MetadataFiles
    on_progress: Callable[[], None] = lambda: None
    """Called after each look."""
    budget: Budget = field(default_factory=Budget)
    tables: dict[str, WatchedTable] = field(default_factory=dict)
    passes: int = 0
    _last_read: int = 0
    """The last pass that could read a table, or had none."""
    _failed: int = 0
    """Looks in a row, in this pass, at tables that could not be read."""

    def follow(self, wanted: Iterable[TableToLook]) -> None:
        """Watches exactly these tables from now on. What is known of others is forgotten."""
        places = {each.uid: (self._location(each), each.wanted) for each in wanted}
        for uid in [uid for uid, known in self.tables.items() if places.get(uid, ("", None))[0] != known.location]:
            self.budget.release(self.tables.pop(uid).observation)
        for uid, (location, is_wanted) in places.items():
            table = self.tables.setdefault(uid, WatchedTable(location, turn=zlib.crc32(uid.encode())))
            if is_wanted:
                table.want()

    def look(self) -> None:
        """One pass: looks at each table that is due."""
        self.passes += 1
        self._failed = 0
        if not self.tables:
            self._last_read = self.passes
        for table in self.tables.values():
            table.looked = False
        due = [table for table in self.tables.values() if table.is_due(self.passes)]
        with ThreadPoolExecutor(THREADS, thread_name_prefix="look") as pool:
            for _ in pool.map(self._look, due):
                self.on_progress()

    @property
    def is_blind(self) -> bool:
        """Whether no table could be read in BLIND_PASSES passes."""
        return self.passes - self._last_read >= BLIND_PASSES

    def _look(self, table: WatchedTable) -> None:
        """Where the storage is away, each look takes its time-outs. So the pass ends after some of them."""
        if self._failed >= MOST_FAILED:
            return
        if table.look(self.files, self.budget):
            self._failed, self._last_read = 0, self.passes
        else:
            self._failed += 1

    def _location(self, table: TableToLook) -> str:
        return place_of(self.catalog, JobTable(database=table.database, name=table.name))
