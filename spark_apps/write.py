"""Loads files into the table, each exactly once, in one commit.

Order: resolve what earlier attempts left open, choose the files, record them in the ledger, commit, mark the record.
A process that dies anywhere in between leaves either nothing, or a record whose commit Paimon can be asked for.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

from spark_apps.commits import Commit, find_commit, latest_snapshot
from spark_apps.contract import Outcome, WriteResult
from spark_apps.failures import INPUT_MALFORMED, RunError, classify, input_failure
from spark_apps.files import InputFile, find_files, input_uri, read_unchanged
from spark_apps.identifiers import CATALOG, qualified
from spark_apps.inputs import read_files
from spark_apps.ledger import Entry, Ledger
from spark_apps.measure import measure_table

if TYPE_CHECKING:
    from spark_apps.contract import Job, WriteJob
    from spark_apps.session import Session


def run(job: Job, session: Session) -> Outcome:
    """Loads what is to be loaded now, or reports the commit that an earlier attempt of this run has made."""
    write = job.write
    assert write is not None  # noqa: S101  (contract.read_job saw to it)
    table = session.table()
    ledger = Ledger(session, write.ledger, table_created(table))
    earlier = _resolve(ledger, table, job.commit_user)
    if earlier is not None:
        result = earlier
    elif write.once and write.hash in ledger.loaded_hashes():
        result = WriteResult(already_committed=True)
    else:
        result = _load(job, write, session, ledger, table)
    if result.skipped:
        return Outcome(write=result)  # nothing to measure, so Spark SQL need not even start
    return Outcome(write=result, table=measure_table(session, session.table()).table)


def table_created(table: Any) -> int:
    """When the table's first schema was written, in ms: it tells a table from a later one of the same name."""
    return int(table.schemaManager().schema(0).timeMillis())


def _resolve(ledger: Ledger, table: Any, own_user: str) -> WriteResult | None:
    """Marks every open entry by what Paimon says; returns the result of this run's own entry if it has committed."""
    for entry in ledger.open_entries:
        answer = find_commit(table, entry.commit_user, entry.snapshot_before)
        if answer.commit is not None:
            ledger.mark_committed(entry, answer.commit.snapshot)
        elif answer.expired:
            raise _result_unknown(ledger, entry)
        else:
            ledger.mark_abandoned(entry)
    own = [entry for entry in ledger.committed_entries if entry.commit_user == own_user]
    if not own:
        return None
    commit = find_commit(table, own_user, own[0].snapshot_before).commit
    return WriteResult(
        files=len(own[0].files),
        rows=commit.rows if commit else 0,
        committed_snapshot=commit.snapshot if commit else None,
        already_committed=True,
    )


def _result_unknown(ledger: Ledger, entry: Entry) -> RunError:
    committed, abandoned = ledger.marker_paths(entry)
    count, example = len(entry.files), entry.files[0].path
    return RunError(
        "ResultUnknown",
        "ResultUnknown",
        f"an earlier attempt to load {count} files may have committed; the snapshots that would tell have expired",
        f"look for rows of {example} in the table: if they are there create the file {committed}, else {abandoned}",
    )


def _load(job: Job, write: WriteJob, session: Session, ledger: Ledger, table: Any) -> WriteResult:
    loaded = ledger.loaded() if write.select == "New" else set()

    def chosen(found: list[InputFile]) -> list[InputFile]:
        if write.once and not found:
            # The folder is there and its files are on their way: ticked off now, they would never be loaded.
            raise input_failure("InputNotFound", f"{input_uri(write)} holds no file yet", "put the files there")
        return [file for file in found if file not in loaded]

    # Read before the ledger: a wrong column leaves no entry.
    listed = functools.partial(find_files, write, session)
    files, rows = read_unchanged(listed, chosen, lambda files: read_files(write, files, session))
    if not files:
        return WriteResult(skipped=True)
    before = latest_snapshot(table)
    entry = ledger.begin(f"{job.run.name}-{job.run.uid}", write.hash, job.commit_user, before, files)
    commit = _append(job, session, ledger, entry, rows)
    ledger.mark_committed(entry, commit.snapshot if commit else None)
    ledger.fold(keep=entry)
    return _written(files, commit)


def _append(job: Job, session: Session, ledger: Ledger, entry: Entry, rows: Any) -> Commit | None:
    """Commits. A writer may have committed its rows and fail after that, so an error is not believed unasked."""
    try:
        rows.writeTo(qualified(CATALOG, job.table.database, job.table.name)).append()
    except Exception as error:
        commit = find_commit(session.table(), entry.commit_user, entry.snapshot_before).commit
        if commit is not None:
            sys.stderr.write(f"the rows are in snapshot {commit.snapshot}; what failed came after: {error}\n")
            return commit
        if classify(error).reason == INPUT_MALFORMED:  # the input is wrong: nothing can be on its way any more
            ledger.mark_abandoned(entry)
        raise
    return find_commit(session.table(), entry.commit_user, entry.snapshot_before).commit


def _written(files: list[InputFile], commit: Commit | None) -> WriteResult:
    return WriteResult(
        files=len(files), rows=commit.rows if commit else 0, committed_snapshot=commit.snapshot if commit else None
    )
