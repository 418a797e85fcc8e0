"""What a run has used: the time of its containers, with their requested CPUs and their memory."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import Final

from paimon_operator.api import units
from paimon_operator.api.run.spark import RunExecutors, RunSpark
from paimon_operator.api.run.status import Attempt, Cost
from paimon_operator.core.launch.executor_pod import Executors

MIB_PER_GIB: Final = 1024


def asked_for(executors: Executors | None) -> RunExecutors | None:
    """What the status shows of a launch."""
    if executors is None:
        return None
    job = executors.job
    return RunExecutors(instances=job.instances, cores=job.cores, memory=f"{executors.memory_mib}Mi")


def number_of_pods(spark: RunSpark | None) -> int:
    """Pods of one attempt: the driver's, and those of its executors."""
    executors = _executors_of(spark)
    return 1 if executors is None else 1 + executors.instances


def cost(attempts: Iterable[Attempt], spark: RunSpark | None, share_ms: int | None = None) -> Cost | None:
    """What the containers used, rounded up to whole units per attempt; None if none ever started.

    Executors count as long as their driver, because nothing records when each of them began and ended.
    `share_ms` is the share of the last attempt in the time of a Pod with other runs; None: it had all of its time.
    """
    used = [(seconds, each) for each in attempts if (seconds := _seconds(each)) is not None]
    if not used:
        return None
    if share_ms is not None:
        used[-1] = ceil(share_ms / 1000), used[-1][1]
    executors = _executors_of(spark)
    return Cost(
        pod_seconds=sum(seconds for seconds, _ in used) * number_of_pods(spark),
        core_seconds=sum(seconds * _cores(each, executors) for seconds, each in used),
        gib_seconds=sum(ceil(seconds * _gib(each, executors)) for seconds, each in used),
    )


def _executors_of(spark: RunSpark | None) -> RunExecutors | None:
    """The executors that every attempt asks for."""
    return None if spark is None else spark.executors


def _seconds(attempt: Attempt) -> int | None:
    if attempt.started is None or attempt.finished is None:
        return None
    # The end of a lost Pod is our clock's time, its start the node's: the difference may be negative.
    return max(0, ceil((attempt.finished - attempt.started).total_seconds()))


def _cores(attempt: Attempt, executors: RunExecutors | None) -> int:
    return (attempt.cores or 1) + (0 if executors is None else executors.instances * executors.cores)


def _gib(attempt: Attempt, executors: RunExecutors | None) -> float:
    """GiB of all containers. Release 0.1 stored no memory of a driver."""
    mib = 0 if attempt.memory is None else units.mebibytes(attempt.memory)
    if executors is not None:
        mib += executors.instances * units.mebibytes(executors.memory)
    return mib / MIB_PER_GIB
