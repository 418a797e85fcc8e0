"""Where a run's work is done: in the driver's own Pod, or by executors. Decided before the first attempt, then kept."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.policies import MAX_BACKOFF_LIMIT
from paimon_operator.api.run.spec import CompactStrategy, PaimonRun
from paimon_operator.api.run.status import RunSpark, RunType
from paimon_operator.api.spark import SparkMode
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import EffectiveMode, TableFacts
from paimon_operator.core import naming
from paimon_operator.core.config import Defaults

ON_DATA: Final = frozenset({RunType.WRITE, RunType.COMPACT})
"""Runs that read or write rows. The others work on metadata in the driver itself, and read at most the list of files:
executors would be made for nothing, whatever the mode."""


def execution(
    run: PaimonRun, table: PaimonTable, mode: EffectiveMode, defaults: Defaults, *, accounts_unknown: bool
) -> RunSpark:
    """The mode of `run`, and why. An edit or a grown table in between changes no run that has begun.

    What makes executors impossible gives Local, where Cluster is asked for too: an edit of the catalog must not stop
    its tables. `accounts_unknown`: the storage goes by accounts, and does not know those of mode Cluster.
    """
    if run.status.spark is not None:
        return run.status.spark
    said = f"mode {mode.mode.value} ({mode.source.value})"
    if run.spec.type not in ON_DATA:
        return RunSpark(mode=SparkMode.LOCAL, message=f"{run.spec.type.value} has no work for executors")
    if mode.mode is not SparkMode.LOCAL and (obstacle := _obstacle(run, accounts_unknown=accounts_unknown)):
        return RunSpark(mode=SparkMode.LOCAL, message=f"{said}: {obstacle}")
    if mode.mode is not SparkMode.AUTO:
        return RunSpark(mode=mode.mode, message=said)
    return _by_size(run, table, said, defaults)


def is_long(run: PaimonRun, table: PaimonTable, where: RunSpark, defaults: Defaults) -> bool:
    """Whether the driver's JVM should compile for a long run: one with executors, or with millions of rows."""
    if run.spec.type not in ON_DATA:
        return False
    rows, _, _ = _work(run, table)
    return where.mode is SparkMode.CLUSTER or (rows or 0) >= defaults.long_from_rows


def _obstacle(run: PaimonRun, *, accounts_unknown: bool) -> str | None:
    """Why the run can have no executors, whatever was asked for."""
    if accounts_unknown:
        needed = "serviceAccountName and driverServiceAccountName in the catalog's spec.spark"
        return f"the storage goes by the pods' account, so executors need {needed}"
    if not _names_its_pods(run.metadata.name):
        return "the run's name is too long or too odd for executors"
    return None


def _names_its_pods(run: str) -> bool:
    """The admission policy knows the run of an executor by the name of its driver's Pod: the last attempt's too."""
    last = MAX_BACKOFF_LIMIT + 1
    return naming.pod_name(run, last) == f"{run}-{last}"


def _by_size(run: PaimonRun, table: PaimonTable, said: str, defaults: Defaults) -> RunSpark:
    rows, size, what = _work(run, table)
    if rows is None and size is None:
        return RunSpark(mode=SparkMode.LOCAL, message=f"{said}: nothing is known of {what} yet")
    known = [f"{rows} rows"] if rows is not None else []
    known += [f"{size} bytes"] if size is not None else []
    limits = f"{defaults.cluster_from_rows} rows or {defaults.cluster_from_bytes} bytes"
    large = (rows or 0) >= defaults.cluster_from_rows or (size or 0) >= defaults.cluster_from_bytes
    how = "not below" if large else "below"
    message = f"{said}: {what} had {' and '.join(known)}, {how} the limit of {limits}"
    return RunSpark(mode=SparkMode.CLUSTER if large else SparkMode.LOCAL, message=message)


def _work(run: PaimonRun, table: PaimonTable) -> tuple[int | None, int | None, str]:
    """Rows and bytes of the work, as far as they are known, and what they were taken from.

    A write's is its last load: its next input is not known before Spark has listed it. A minor compaction merges what
    the last loads have left; only a full one rewrites the table.
    """
    loads = [write.rows for write in table.status.writes if write.rows is not None]
    if run.spec.write is not None:
        name = run.spec.write.name
        own = next((write.rows for write in table.status.writes if write.name == name), None)
        return own, None, f"the last load of write {name}"
    if run.spec.compact is not None and run.spec.compact.strategy is CompactStrategy.MINOR:
        return sum(loads) if loads else None, None, "the last loads of all writes"
    facts = table.status.table or TableFacts(identifier="")
    return facts.rows, facts.size_bytes, "the table"
