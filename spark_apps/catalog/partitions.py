"""The partitions of a table: reading them, naming one in Paimon's own terms, and dropping some."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from spark_apps.catalog.bucket_layout import key_reader
from spark_apps.catalog.session import Session
from spark_apps.sql.partition_values import EPOCH, PartitionKey

BATCH: Final = 2**63 - 1
"""Commit identifier of batch jobs in Paimon."""

PartitionSpec = Mapping[str, str]
"""Partition key -> value as Paimon's text, in which a name of its own means NULL."""


@dataclass(frozen=True)
class Partition:
    """A partition that has files. `updated` is when the last of them was made, in ms of the writers' clocks."""

    identity: bytes
    keys: tuple[PartitionKey, ...]
    updated: int
    files: int
    rows: int
    size_bytes: int

    def __str__(self) -> str:
        return text_of_keys(self.keys)


class PartitionReader:
    """Reads the partitions of the table's latest snapshot, again and again: keys are read once per partition."""

    def __init__(self, session: Session, table: Any) -> None:
        self._table, self._read_keys = table, key_reader(session, table)
        self._known: dict[bytes, tuple[PartitionKey, ...]] = {}

    def read(self) -> Iterator[Partition]:
        """All partitions that have files."""
        for entry in self._table.store().newScan().readPartitionEntries():
            row = entry.partition()
            identity = bytes(row.toBytes())
            keys = self._known.get(identity) or self._known.setdefault(identity, tuple(self._read_keys(row)))
            yield Partition(
                identity=identity,
                keys=keys,
                updated=int(entry.lastFileCreationTime()),
                files=int(entry.fileCount()),
                rows=int(entry.recordCount()),
                size_bytes=int(entry.fileSizeInBytes()),
            )


def text_of_keys(keys: Iterable[PartitionKey]) -> str:
    """The keys as a message names them."""
    return ", ".join(f"{key.name}={text_of(key)}" for key in keys)


def text_of(key: PartitionKey) -> str | None:
    """The value as a text that Paimon reads back: `2026-11-25` for a date, `true`. None for NULL."""
    value = key.value
    if key.root == "TIMESTAMP_WITHOUT_TIME_ZONE" and value is not None:
        day, _, time = str(value).partition("T")
        return f"{day} {time}:00" if time.count(":") == 1 else f"{day} {time}"
    if key.root == "DATE" and isinstance(value, int):
        return _date(value)
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)


def _date(days: int) -> str:
    """The date as Paimon reads it. Beyond the year 9999 a number, which Paimon does not read as this date."""
    try:
        return (EPOCH + timedelta(days=days)).isoformat()
    except OverflowError:
        return str(days)


class PartitionNames:
    """The texts by which Paimon finds a partition."""

    def __init__(self, session: Session, table: Any) -> None:
        self._session, self._types = session, table.schema().logicalPartitionType()
        self._null = str(table.coreOptions().partitionDefaultName())
        self._read = session.jvm.org.apache.paimon.utils.InternalRowPartitionComputer.convertSpecToInternal

    def spec_of(self, partition: Partition) -> PartitionSpec | None:
        """The texts of all keys; None if Paimon would read another partition from them, as from the name of NULL."""
        spec = {key.name: self._null if (text := text_of(key)) is None else text for key in partition.keys}
        try:
            found = dict(self._read(self._session.java_map(spec), self._types, self._null))
        except Exception:  # noqa: BLE001  (whatever stops Paimon from reading it: it cannot be named)
            return None
        same = all(_plain(found[key.name]) == key.value for key in partition.keys)
        return spec if same else None


def _plain(value: Any) -> str | int | None:
    return value if value is None or isinstance(value, int) else str(value.toString())


def drop_partitions(session: Session, table: Any, specs: Sequence[PartitionSpec]) -> None:
    """Drops partitions in one commit, under the lock of the metastore and with the commit user of the run.

    Paimon's procedure expire_partitions commits without a user, and in 0.9 without a lock.
    """
    user = f"{session.job.commit_user}_{uuid.uuid4()}"
    named = session.java_list([session.java_map(dict(each)) for each in specs])
    commit = table.newCommit(user)
    try:
        if "truncatePartitions" in dir(commit):
            commit.truncatePartitions(named)
        else:
            _drop_with_store(table, user, named)
    finally:
        commit.close()


def _drop_with_store(table: Any, user: str, named: Any) -> None:
    """The same on engines whose commit of a table drops no partitions."""
    lock = table.catalogEnvironment().lockFactory().create()
    commit = table.store().newCommit(user).withLock(lock)
    try:
        commit.dropPartitions(named, BATCH)
    finally:
        commit.close()
        lock.close()
