"""Spark's event log of a run, beside the tables of the warehouse: what a history server shows.

A run that needs Paimon's Java interface alone starts no Spark, and has none.
"""

from __future__ import annotations

from typing import Any, Final

from paimon_contract.job import Job

DIRECTORY: Final = ".paimon-operator/spark-events"
"""Below the warehouse."""


def directory_of(job: Job) -> str:
    """Where the warehouse has its event logs, as Hadoop writes URIs."""
    return f"{job.catalog.warehouse.rstrip('/')}/{DIRECTORY}"


def is_wanted(job: Job) -> bool:
    """Whether the run leaves an event log."""
    return job.spark is not None and job.spark.event_log is True


def options(job: Job) -> dict[str, str]:
    """Spark's settings for it. Local applications are named by the time of day, so two may have one name."""
    if not is_wanted(job):
        return {}
    return {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": directory_of(job),
        "spark.eventLog.compress": "true",
        "spark.eventLog.overwrite": "true",
    }


def make_directory(job: Job, jvm: Any, configuration: Any) -> None:
    """Makes the directory, without which Spark does not start. `configuration` is Hadoop's (Java)."""
    if is_wanted(job):
        path = jvm.org.apache.hadoop.fs.Path(directory_of(job))
        path.getFileSystem(configuration).mkdirs(path)
