"""Buckets of type Postpone: each partition got its own number of them with its first write."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from spark_apps.catalog.session import Session

POSTPONE_MODE = "POSTPONE_MODE"

TEXTS = ("CHAR", "VARCHAR")


def partitions_by_buckets(session: Session, table: Any) -> dict[int, list[dict[str, str]]]:
    """Number of buckets -> the partitions that have it, by key. A table without partitions has one, which is empty."""
    known = session.jvm.org.apache.paimon.table.PostponeUtils.getKnownNumBuckets(table)
    found: defaultdict[int, list[dict[str, str]]] = defaultdict(list)
    for partition, number in known.items():
        found[int(number)].append(_values(session, table, partition))
    return dict(found)


def _values(session: Session, table: Any, partition: Any) -> dict[str, str]:
    """The values of the partition keys. They are part of the primary key, so that none is NULL."""
    types = table.schema().logicalPartitionType()
    names = session.java_strings([str(name) for name in types.getFieldNames()])
    computer = session.jvm.org.apache.paimon.utils.InternalRowPartitionComputer("", types, names, False)
    values = {str(key): str(text) for key, text in dict(computer.generatePartValues(partition)).items()}
    for index, field in enumerate(types.getFields()):
        if str(field.type().getTypeRoot().toString()) in TEXTS:  # the computer has one value for all blank texts
            values[str(field.name())] = str(partition.getString(index).toString())
    return values
