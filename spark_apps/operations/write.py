"""Loads files into the table, each exactly once, in one commit.

Order: resolve the open entries of earlier attempts, choose the files, record them in the ledger, commit, mark the
entry. A process that is killed in between leaves either nothing, or an entry whose commit can be looked up in Paimon.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

from paimon_contract.job import Job
from paimon_contract.parameters.write import WriteParameters
from paimon_contract.result import LoadSummary, Outcome
from spark_apps.catalog.bucket_layout import refuse_mixing_buckets
from spark_apps.catalog.measure import measure_table
from spark_apps.catalog.session import Session
from spark_apps.catalog.snapshots import find_commit, latest_snapshot
from spark_apps.failures.classify import classify
from spark_apps.failures.errors import INPUT_MALFORMED, input_failure
from spark_apps.loading.ambiguous_loads import commit_unknown, refuse_doubtful
from spark_apps.loading.expire_after_write import expire_after_write
from spark_apps.loading.file_identity import identities
from spark_apps.loading.input_files import InputFile, find_files, input_uri, path_field, read_unchanged
from spark_apps.loading.ledger import Entry, Ledger
from spark_apps.loading.load_result import Loaded, loaded_with
from spark_apps.loading.read_inputs import read_files
from spark_apps.loading.recovery import open_ledger, resolve_open_entries
from spark_apps.progress import log_warning
from spark_apps.sql.identifiers import CATALOG, qualified

PARAMETERS = WriteParameters


def run(job: Job, session: Session) -> Outcome:
    """Loads the files that are due, or reports the commit that an earlier attempt of this run has made."""
    write = job.parameters_as(PARAMETERS)
    table = session.table_at_start()
    refuse_mixing_buckets(job, table)
    ledger = open_ledger(session, write.ledger, table)
    unknown = resolve_open_entries(ledger, table)
    own = _own_commit(ledger, table, job)
    if own is None and unknown:
        raise commit_unknown(ledger, unknown[0])
    if own is None and write.once and write.hash in ledger.loaded_hashes():
        result = LoadSummary(already_committed=True)
    else:
        loaded = own or _load(job, write, session, ledger, table)
        if loaded is None:
            return Outcome(write=LoadSummary(skipped=True))  # nothing to measure, so Spark SQL need not even start
        # Also for a repeated attempt: the first can have been killed before it could report.
        refuse_doubtful(loaded, write, session, table)
        result = replace(loaded.result, already_committed=own is not None)
    table = session.table()
    expire_after_write(job, session, table)
    return Outcome(write=result, table=measure_table(session, table).table)


def _own_commit(ledger: Ledger, table: Any, job: Job) -> Loaded | None:
    """The load of an earlier attempt of this run."""
    entry = next((each for each in ledger.committed_entries if each.commit_user == job.commit_user), None)
    return None if entry is None else loaded_with(entry, ledger, table)


def _load(job: Job, write: WriteParameters, session: Session, ledger: Ledger, table: Any) -> Loaded | None:
    already = {each for file in ledger.loaded() for each in identities(file)} if write.select == "New" else set()

    def chosen(found: list[InputFile]) -> list[InputFile]:
        if write.once and not found:
            # The folder exists and its files are still to come: marked as done now, they would never be loaded.
            message = f"{input_uri(write)} holds no file yet"
            raise input_failure("InputNotFound", message, "put the files there", field=path_field(write))
        return [file for file in found if already.isdisjoint(identities(file))]

    # Read before the ledger entry is written: a wrong column leaves no entry.
    listed = functools.partial(find_files, write, session)
    files, rows = read_unchanged(
        listed, chosen, lambda files: read_files(write, files, session), field=path_field(write)
    )
    if not files:
        return None
    entry = ledger.begin(job, latest_snapshot(table), files)
    _append(job, session, ledger, entry, rows)
    loaded = loaded_with(entry, ledger, session.table())
    ledger.mark_committed(entry, loaded.commits)
    ledger.fold(keep=entry)
    return loaded


def _append(job: Job, session: Session, ledger: Ledger, entry: Entry, rows: Any) -> None:
    """Commits. A writer can fail after its commit, so after an error the commit is looked up."""
    try:
        rows.writeTo(qualified(CATALOG, job.table.database, job.table.name)).append()
    except Exception as error:
        commit = find_commit(session.table(), entry.commit_user, entry.snapshot_before).commit
        if commit is not None:
            log_warning(f"the rows are in snapshot {commit.snapshot}; the error came after the commit: {error}")
            return
        if classify(error, metastore=session.metastore).reason == INPUT_MALFORMED:
            ledger.mark_abandoned(entry)  # the input is wrong, so no commit can follow
        raise
