"""A table through Paimon's Java interface, in the worker's JVM. A step takes milliseconds, as Spark has no part in it.

Each request is `{"play": method, ...}` with the arguments of the method.
"""

from __future__ import annotations

import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark import SparkContext

from spark_apps.catalog.expiry import expire_all_snapshots, run_automatic_tags

COLUMNS = ("p", "k", "seq", "a", "b")
BATCH = 2**63 - 1


def _paimon() -> Any:
    jvm: Any = SparkContext._jvm
    return jvm.org.apache.paimon


def _java_map(given: Mapping[str, str]) -> Any:
    jvm: Any = SparkContext._jvm
    made = jvm.java.util.HashMap()
    for key, value in given.items():
        made.put(key, value)
    return made


def _java_list(given: Sequence[Any]) -> Any:
    jvm: Any = SparkContext._jvm
    made = jvm.java.util.ArrayList()
    for each in given:
        made.add(each)
    return made


@dataclass
class Begun:
    """A write or compaction whose files are written."""

    user: str
    messages: Any


@dataclass
class JavaTable:
    """The table that is played with now, and what was begun on it."""

    catalog: Any = None
    table: Any = None
    is_new: bool = False
    """Whether the engine is newer than 0.9."""
    begun: dict[str, Begun] = field(default_factory=dict)
    spill: str = field(default_factory=lambda: tempfile.mkdtemp(prefix="schedule-spill-"))

    def answer(self, request: dict[str, Any]) -> Any:
        """Carries out one request."""
        more = dict(request)
        try:
            return {"ended": getattr(self, more.pop("play"))(**more)}
        except Py4JJavaError as error:
            return {"failed": _messages(error)}
        except Exception:  # noqa: BLE001  (the test fails with it)
            return {"failed": traceback.format_exc()}

    def open(
        self,
        warehouse: str,
        keys: Sequence[str],
        required: Sequence[str],
        partitions: Sequence[str],
        options: Mapping[str, str],
    ) -> None:
        """Creates shop.orders. `required`: columns without NULL."""
        self._connect(warehouse)
        self.catalog.createDatabase("shop", True)
        schema = _paimon().schema.Schema.newBuilder()
        for name in COLUMNS:
            type_ = _paimon().types.DataTypes.INT()
            schema.column(name, type_.copy(False) if name in required else type_)
        schema.primaryKey(_java_list(keys))
        schema.partitionKeys(_java_list(partitions))
        schema.options(_java_map(options))
        self.catalog.createTable(_orders(), schema.build(), False)
        self.table = self.catalog.getTable(_orders())

    def attach(self, warehouse: str) -> None:
        """Opens shop.orders, which exists."""
        self._connect(warehouse)
        self.table = self.catalog.getTable(_orders())

    def reload(self) -> None:
        """Reads the table's schema again. What was begun is committed with the new one."""
        self.table = self.catalog.getTable(_orders())

    def _connect(self, warehouse: str) -> None:
        self.begun = {}
        self.is_new = _exists("org.apache.paimon.append.AppendCompactCoordinator")
        if self.catalog is not None:
            self.catalog.close()
        paimon = _paimon()
        settings = paimon.options.Options.fromMap(_java_map({"warehouse": warehouse, "cache-enabled": "false"}))
        self.catalog = paimon.catalog.CatalogFactory.createCatalog(paimon.catalog.CatalogContext.create(settings))

    def begin_write(self, name: str, rows: Sequence[Sequence[Any]], *, buckets: int | None = None) -> None:
        """Writes rows of COLUMNS and `gone`. `buckets`: the bucket of a row is chosen here, by its key."""
        with self._writing(name) as write:
            for *values, gone in rows:
                row = self._row(values, gone=gone)
                if buckets is None:
                    write.write(row)
                else:
                    write.write(row, values[1] % buckets)

    def _row(self, values: Sequence[int | None], *, gone: bool) -> Any:
        row = _paimon().data.GenericRow(len(values))
        for index, value in enumerate(values):
            row.setField(index, value)
        if gone:
            row.setRowKind(_paimon().types.RowKind.DELETE)
        return row

    def begin_compaction(self, name: str, *, full: bool) -> None:
        """Compacts all buckets of a table with buckets."""
        splits = self.table.newSnapshotReader().read().dataSplits()
        with self._writing(name, {"write-only": "false"}) as write:
            seen = set()
            for each in splits:
                place = (each.partition().hashCode(), each.bucket())
                if place not in seen:
                    write.compact(each.partition(), each.bucket(), full)
                seen.add(place)

    def begin_compaction_without_buckets(self, name: str) -> None:
        """Compacts the files of all partitions of a table without key and buckets, as Paimon's procedure does."""
        compacting = self.table.copy(_java_map({"compaction.min.file-num": "2", "write-only": "false"}))
        append = _paimon().append
        if self.is_new:
            coordinator = append.AppendCompactCoordinator(compacting, False)
        else:
            coordinator = append.UnawareAppendTableCompactionCoordinator(compacting, False)
        user = f"schedule-{name}"
        write = compacting.store().newWrite(user)
        try:
            messages = [each.doCompact(compacting, write) for each in coordinator.run()]
        finally:
            write.close()
        self.begun[name] = Begun(user, _java_list(messages))

    @contextmanager
    def _writing(self, name: str, options: Mapping[str, str] | None = None) -> Iterator[Any]:
        table = self.table.copy(_java_map(options or {}))
        user = f"schedule-{name}"
        write = table.newWrite(user)
        write.withIOManager(_paimon().disk.IOManager.create(self.spill))
        try:
            yield write
            self.begun[name] = Begun(user, write.prepareCommit(True, 1))
        finally:
            write.close()

    def commit(self, name: str) -> str | None:
        """Commits what was begun. Returns Paimon's error, or None."""
        begun = self.begun.pop(name)
        commit = self.table.newCommit(begun.user).ignoreEmptyCommit(True)
        try:
            commit.commit(1, begun.messages)
        except Py4JJavaError as error:
            return _messages(error)
        finally:
            commit.close()
        return None

    def expire(self, keep: int, changelogs: int | None = None) -> None:
        """Expires all but so many snapshots, as ExpireSnapshots does; also all but so many changelogs."""
        options = {f"snapshot.num-retained.{each}": str(keep) for each in ("min", "max")}
        if changelogs is not None:
            options["changelog.num-retained.max"] = str(changelogs)
        retention = self.table.copy(_java_map(options)).coreOptions().expireConfig()
        expire_all_snapshots(self.table, retention, lambda: True)

    def tag_automatically(self) -> None:
        """Creates the tag that is due, as ExpireSnapshots does."""
        run_automatic_tags(self.table)

    def consume(self, name: str, snapshot: int) -> None:
        """Creates a consumer that reads this snapshot next, or lets it go on there."""
        self._consumers().resetConsumer(name, _paimon().consumer.Consumer(snapshot))

    def unconsume(self, name: str) -> None:
        """Deletes a consumer."""
        self._consumers().deleteConsumer(name)

    def _consumers(self) -> Any:
        return _paimon().consumer.ConsumerManager(self.table.fileIO(), self.table.location())

    def drop(self, name: str, partition: int) -> None:
        """Drops a partition as our ExpirePartitions does."""
        named = _java_list([_java_map({"p": str(partition)})])
        commit = self.table.newCommit(f"schedule-{name}")
        if "truncatePartitions" not in dir(commit):
            self._store_commit(name).dropPartitions(named, BATCH)
            return
        commit.truncatePartitions(named)
        commit.close()

    def read(self, places: Sequence[tuple[str, str]]) -> list[list[list[int | None]]]:
        """The rows of COLUMNS at each place: an option of the scan and its value, or twice nothing for the head."""
        return [list(self._rows({option: value} if option else {})) for option, value in places]

    def _rows(self, options: Mapping[str, str]) -> Iterator[list[int | None]]:
        table = self.table.copy(_java_map(options))
        read = table.newRead()
        for split in table.newScan().plan().splits():
            reader = read.createReader(split)
            while (batch := reader.readBatch()) is not None:
                while (row := batch.next()) is not None:
                    yield [None if row.isNullAt(each) else row.getInt(each) for each in range(len(COLUMNS))]
                batch.releaseBatch()
            reader.close()

    def tag(self, name: str, snapshot: int) -> None:
        """Creates a tag."""
        self.table.createTag(name, snapshot)

    def untag(self, name: str) -> None:
        """Deletes a tag."""
        self.table.deleteTag(name)

    def branch(self, name: str, tag: str) -> None:
        """Creates a branch."""
        self.table.createBranch(name, tag)

    def unbranch(self, name: str) -> None:
        """Deletes a branch."""
        self.table.deleteBranch(name)

    def compact_manifests(self) -> None:
        """Does nothing on an engine that cannot do it."""
        commit = self.table.newCommit("schedule-manifests")
        if "compactManifests" in dir(commit):
            commit.compactManifests()
        commit.close()

    def analyze(self, snapshot: int) -> None:
        """Commits statistics of the table."""
        statistics = _paimon().stats.Statistics(snapshot, 0, 1, 1)
        self._store_commit("analyze").commitStatistics(statistics, BATCH)

    def _store_commit(self, name: str) -> Any:
        more = [self.table] if self.is_new else []
        return self.table.store().newCommit(f"schedule-{name}", *more)


def _orders() -> Any:
    return _paimon().catalog.Identifier.create("shop", "orders")


def _messages(error: Py4JJavaError) -> str:
    found, cause = [], error.java_exception
    while cause is not None:
        found.append(str(cause.toString()))
        cause = cause.getCause()
    return " <- ".join(found)


def _exists(name: str) -> bool:
    jvm: Any = SparkContext._jvm
    try:
        jvm.java.lang.Class.forName(name, False, jvm.java.lang.Thread.currentThread().getContextClassLoader())
    except Py4JJavaError:
        return False
    return True
