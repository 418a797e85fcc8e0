"""Loads whose rows in the table do not match the ledger. They end as ResultUnknown, for a person to resolve."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from paimon_contract.parameters.write import WriteParameters
from spark_apps.catalog.session import Session
from spark_apps.catalog.snapshots import Commit
from spark_apps.failures.errors import RunError
from spark_apps.loading.input_files import InputFile, find_files
from spark_apps.loading.ledger import Entry, Ledger
from spark_apps.loading.load_result import Loaded
from spark_apps.progress import log_warning

REPEATABLE: Final = frozenset({"deduplicate", "partial-update", "first-row"})
"""Merge engines for which loading a row twice changes nothing, unless an aggregate function is used."""

CLOCKS_APART: Final = 60_000
"""Milliseconds by which the clock that dates input files may be ahead of the driver's, which dates commits.

Clocks that NTP keeps differ by less than a second. A minute is far beyond that, and yet shorter than the time between
most deliveries of one name: a file that is replaced within it is ambiguous, and a person has to check it.
"""


def commit_unknown(ledger: Ledger, entry: Entry) -> RunError:
    """The error for an entry that cannot be looked up: the snapshots with its commit have expired."""
    committed, abandoned = ledger.marker_paths(entry)
    count, example = len(entry.files), entry.files[0].path
    return RunError(
        "ResultUnknown",
        "ResultUnknown",
        f"an earlier attempt to load {count} files may have committed; the snapshots that would prove it have expired",
        f"look for rows of {example} in the table: if they are there create the file {committed}, else {abandoned}",
    )


def refuse_doubtful(loaded: Loaded, write: WriteParameters, session: Session, table: Any) -> None:
    """Raises RunError when the rows are in the table and it is unknown which, or how often."""
    refuse_two_writers(loaded, write, session, table)
    refuse_replaced_files(loaded, write, session, table)


def refuse_two_writers(loaded: Loaded, write: WriteParameters, session: Session, table: Any) -> None:
    """Raises RunError when two drivers of one run have committed: the first was still alive.

    With a repeatable merge engine, the same files once more change nothing, and a line in the log is enough.
    """
    numbers = " and ".join(two_writers(loaded.commits))
    if not numbers:
        return
    if _repeatable(table) and not write.once and _same_files(loaded, write, session):
        log_warning(f"two drivers of this run have committed the same rows by key, in snapshots {numbers}")
        return
    raise RunError(
        "ResultUnknown",
        "ResultUnknown",
        f"two drivers of this run have committed, so snapshots {numbers} may hold rows of the same files",
        f"compare snapshots {numbers} and correct what is in the table twice; then set externalWriters to Paused (to "
        "None if it is Paused), or the next run takes your correction for an outside writer's; then delete the run",
    )


def two_writers(commits: Iterable[Commit]) -> list[str]:
    """The last snapshot of each writer; none when there is only one writer."""
    writers = {commit.user: str(commit.snapshot) for commit in commits}
    return list(writers.values()) if len(writers) > 1 else []


def _same_files(loaded: Loaded, write: WriteParameters, session: Session) -> bool:
    """Whether every attempt of the run loaded the same files: otherwise older rows can have been committed last."""
    files = loaded.entry.files
    if any(attempt.files != files for attempt in loaded.attempts):
        return False
    return not replaced_files(files, _now(write, session), _last(loaded))


def refuse_replaced_files(loaded: Loaded, write: WriteParameters, session: Session, table: Any) -> None:
    """Raises RunError when a file was replaced: Spark opens files after they are listed, so either version was read.

    Nothing is checked where the next run corrects it by loading the newer version. A file that is gone was removed
    after its load.
    """
    if loaded.commit is None or (_repeatable(table) and not write.once):
        return
    replaced = replaced_files(loaded.entry.files, _now(write, session), _last(loaded))
    if replaced:
        raise _replaced(replaced, loaded.commit.snapshot, write)


def _replaced(files: list[InputFile], snapshot: int, write: WriteParameters) -> RunError:
    others = f" (and {len(files) - 1} more files)" if len(files) > 1 else ""
    path = files[0].path
    then = (
        "a write of type Once does not load the newer one: give that to a write of another name if it is wanted"
        if write.once
        else f"the newer one is loaded when you delete the run: remove {path} before if it must not be"
    )
    return RunError(
        "ResultUnknown",
        "ResultUnknown",
        f"{path}{others} was replaced while it was loaded: snapshot {snapshot} holds rows of the older or newer one",
        f"look at the rows of snapshot {snapshot}; {then}",
    )


def replaced_files(loaded: Iterable[InputFile], now: Iterable[InputFile], committed: int) -> list[InputFile]:
    """Those of `loaded` that `now` has in another version, which can have existed at the commit (`committed`, in ms).

    A version that is clearly younger is the next delivery under that name.
    """
    versions = {file.path: file for file in now if file.modified <= committed + CLOCKS_APART}
    return [file for file in loaded if versions.get(file.path, file) != file]


def _last(loaded: Loaded) -> int:
    return max(commit.time for commit in loaded.commits)


def _now(write: WriteParameters, session: Session) -> list[InputFile]:
    try:
        return find_files(write, session)
    except RunError as error:
        if error.reason == "InputNotFound":  # removed with its folder
            return []
        raise


def _repeatable(table: Any) -> bool:
    """Whether loading rows twice gives the same table as loading them once."""
    if not table.schema().primaryKeys():
        return False
    options = table.schema().options()
    aggregates = any(str(key).endswith("aggregate-function") for key in options)
    return str(options.get("merge-engine") or "deduplicate") in REPEATABLE and not aggregates
