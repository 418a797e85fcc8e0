"""Where a run's work is done: in the driver's own Pod, or by executors. Decided before the first attempt, then kept."""

from __future__ import annotations

from paimon_operator.api.policies import MAX_BACKOFF_LIMIT
from paimon_operator.api.run.spark import RunSpark
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.spark import SparkMode
from paimon_operator.api.table.effective import EffectiveMode
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core import naming
from paimon_operator.core.config import Defaults
from paimon_operator.core.launch.driver_pod import config_map_of
from paimon_operator.core.operations import registry
from paimon_operator.core.operations.operation import InputSize


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
    size_of = registry.OPERATIONS.of(run.spec.type).input_size
    if size_of is None:
        return RunSpark(mode=SparkMode.LOCAL, message=f"{run.spec.type} has no work for executors")
    if mode.mode is not SparkMode.LOCAL and (obstacle := _obstacle(run, accounts_unknown=accounts_unknown)):
        return RunSpark(mode=SparkMode.LOCAL, message=f"{said}: {obstacle}")
    if mode.mode is not SparkMode.AUTO:
        return RunSpark(mode=mode.mode, message=said)
    return _by_size(size_of(run, table), said, defaults)


def is_long(run: PaimonRun, table: PaimonTable, where: RunSpark, defaults: Defaults) -> bool:
    """Whether the driver's JVM should compile for a long run: one with executors, or with millions of rows."""
    size_of = registry.OPERATIONS.of(run.spec.type).input_size
    if size_of is None:
        return False
    return where.mode is SparkMode.CLUSTER or (size_of(run, table).rows or 0) >= defaults.long_from_rows


def _obstacle(run: PaimonRun, *, accounts_unknown: bool) -> str | None:
    """Why the run can have no executors, whatever was asked for."""
    if accounts_unknown:
        needed = "serviceAccountName and driverServiceAccountName in the catalog's spec.spark"
        return f"the storage goes by the pods' account, so executors need {needed}"
    if not _names_its_pods(config_map_of(run)):
        return "the run's name is too long or too odd for executors"
    return None


def _names_its_pods(config_map: str) -> bool:
    """The admission policy finds the rights of executors by the name of their driver's Pod: the last attempt's too."""
    last = MAX_BACKOFF_LIMIT + 1
    return naming.pod_name(config_map, last) == f"{config_map}-{last}"


def _by_size(size: InputSize, said: str, defaults: Defaults) -> RunSpark:
    if size.rows is None and size.size_bytes is None:
        return RunSpark(mode=SparkMode.LOCAL, message=f"{said}: nothing is known of {size.source} yet")
    known = [f"{size.rows} rows"] if size.rows is not None else []
    known += [f"{size.size_bytes} bytes"] if size.size_bytes is not None else []
    limits = f"{defaults.cluster_from_rows} rows or {defaults.cluster_from_bytes} bytes"
    large = (size.rows or 0) >= defaults.cluster_from_rows or (size.size_bytes or 0) >= defaults.cluster_from_bytes
    how = "not below" if large else "below"
    message = f"{said}: {size.source} had {' and '.join(known)}, {how} the limit of {limits}"
    return RunSpark(mode=SparkMode.CLUSTER if large else SparkMode.LOCAL, message=message)
