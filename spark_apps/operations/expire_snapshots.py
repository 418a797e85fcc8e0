"""Expires snapshots by the job's retention, until none is left.

It also creates and removes tags, and removes consumers and changelogs, by the table's options. On tables whose writers
do not compact, nobody else does.

Paimon's Java interface is the same in all engines and takes the whole retention, that of changelogs included, which
the procedure of the same name ignores. Its result depends on the current time.

A snapshot can be the only proof of a write's commit, so the open entries of the table's ledgers are resolved first.
"""

from __future__ import annotations

import dataclasses
import time
from typing import Any

from paimon_contract.job import Job
from paimon_contract.parameters.expire_snapshots import ExpireSnapshotsParameters
from paimon_contract.result import Outcome
from paimon_engines.engine import Engine
from spark_apps.catalog.due_snapshots import is_certainly_nothing_due
from spark_apps.catalog.expiry import (
    CALL_LIMIT,
    expire_all_snapshots,
    expire_consumers,
    may_have_outlived_changelogs,
    run_automatic_tags,
)
from spark_apps.catalog.measure import Measured, measure_at_start, measure_table, outcome_between
from spark_apps.catalog.session import Session
from spark_apps.failures.causes import root_message
from spark_apps.failures.errors import RunError, spec_failure
from spark_apps.loading.recovery import resolve_all_entries
from spark_apps.metadata.base import TimedFiles
from spark_apps.metadata.measurement import of_contents
from spark_apps.metadata.observation import Observer
from spark_apps.metadata.table_files import TableFiles, is_as_verified, location_of
from spark_apps.schema.isolate import invalid_part

PARAMETERS = ExpireSnapshotsParameters
REUSES_FILES = True

FIELDS = {
    "time_retained": "spec.retention.snapshots.timeRetained",
    "num_retained_min": "spec.retention.snapshots.numRetainedMin",
    "num_retained_max": "spec.retention.snapshots.numRetainedMax",
}
"""Member of the job -> the field that it comes from."""


def run(job: Job, session: Session) -> Outcome:
    """Expires all snapshots beyond the retention, once the tags that are due keep theirs."""
    expire = job.parameters_as(PARAMETERS)
    table = session.table_at_start()
    retention = _checked(expire, table, session)
    before = measure_at_start(session, table)
    resolve_all_entries(job, session, table)
    run_automatic_tags(table)
    expire_consumers(session, table)
    expired = expire_all_snapshots(table, retention, lambda: may_have_outlived_changelogs(session))
    return outcome_between(before, measure_table(session, table, before=before), expired=expired)


def without_jvm(job: Job, engine: Engine, files: TimedFiles) -> Outcome | None:  # noqa: ARG001
    """Ends where nothing is due; None where anything may be, and for what a JVM refuses.

    Entries of ledgers stay open then: no snapshot goes that could prove them.
    """
    location = location_of(job)
    schema = TableFiles(files, location).latest_schema()
    if schema is None or not is_as_verified(job, schema):
        return None
    if not is_certainly_nothing_due(job.parameters_as(PARAMETERS), schema, files, location, now()):
        return None
    measured = Measured(of_contents(Observer(files, location, schema).observe().contents, schema))
    return outcome_between(measured, measured, expired=0)


def now() -> int:
    """The current time in ms."""
    return time.time_ns() // 1_000_000


def _checked(expire: ExpireSnapshotsParameters, table: Any, session: Session) -> Any:
    """Paimon's ExpireConfig (Java). Raises RunError (Spec) naming the field that Paimon refuses."""

    def read(asked: ExpireSnapshotsParameters) -> Any:
        return table.copy(session.java_map(_retention(asked, table))).coreOptions().expireConfig()

    try:
        return read(expire)
    except RunError:
        raise
    except Exception as error:
        given = (name for name in FIELDS if getattr(expire, name) is not None)
        without = ((FIELDS[name], dataclasses.replace(expire, **{name: None})) for name in given)
        field = invalid_part(without, (), read) or "spec.retention.snapshots"
        said = f"Paimon refuses the retention: {root_message(error)}"
        raise spec_failure("InvalidSpec", said, "correct the retention", field=field) from error


def _retention(expire: ExpireSnapshotsParameters, table: Any) -> dict[str, str]:
    """Table options for this run. Without a value in the job, the table's own option applies."""
    minimum, maximum = expire.num_retained_min, expire.num_retained_max
    if minimum is not None and minimum < 1:
        # Paimon would delete files of snapshots that it still lists (apache/paimon#10088)
        raise spec_failure(
            "InvalidSpec", "numRetainedMin is below 1", "set it to 1 or more", field=FIELDS["num_retained_min"]
        )
    if maximum is not None and minimum is None:
        minimum = min(maximum, int(table.coreOptions().snapshotNumRetainMin()))
    given = {
        "snapshot.time-retained": expire.time_retained,
        "snapshot.num-retained.min": minimum,
        "snapshot.num-retained.max": maximum,
    }
    return CALL_LIMIT | {key: str(value) for key, value in given.items() if value is not None}
