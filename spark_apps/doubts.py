"""Loads that are in the table but not as the ledger has it. They end as ResultUnknown, for a person to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from spark_apps.failures import RunError
from spark_apps.files import find_files

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spark_apps.commits import Commit
    from spark_apps.contract import WriteJob
    from spark_apps.files import InputFile
    from spark_apps.ledger import Entry, Ledger
    from spark_apps.session import Session

REPEATABLE: Final = frozenset({"deduplicate", "partial-update", "first-row"})
"""Merge engines that rows may go through twice. Aggregate functions in partial-update make an exception."""


def commit_unknown(ledger: Ledger, entry: Entry) -> RunError:
    """Nobody can tell whether `entry` is in the table."""
    committed, abandoned = ledger.marker_paths(entry)
    count, example = len(entry.files), entry.files[0].path
    return RunError(
        "ResultUnknown",
        "ResultUnknown",
        f"an earlier attempt to load {count} files may have committed; the snapshots that would tell have expired",
        f"look for rows of {example} in the table: if they are there create the file {committed}, else {abandoned}",
    )


def refuse_two_writers(commits: Iterable[Commit]) -> None:
    """Raises RunError when two drivers of one run have committed: the first was thought dead, and was not."""
    writers = {commit.user: str(commit.snapshot) for commit in commits}
    if len(writers) > 1:
        numbers = " and ".join(writers.values())
        raise RunError(
            "ResultUnknown",
            "ResultUnknown",
            f"two drivers of this run have committed, so snapshots {numbers} may hold rows of the same files",
            f"compare snapshots {numbers} and correct what is in the table twice, then delete the run",
        )


def refuse_replaced_files(entry: Entry, snapshot: int | None, write: WriteJob, session: Session, table: Any) -> None:
    """Raises RunError when a file is another now: Spark opened it after it was listed, and nobody knows which it read.

    A table that the next run corrects by loading the newer one is not even asked for. A file that is gone was tidied
    away.
    """
    if not entry.files or (_repeatable(table) and not write.once):
        return
    replaced = replaced_files(entry.files, _now(write, session))
    if not replaced:
        return
    others = f" (and {len(replaced) - 1} more files)" if len(replaced) > 1 else ""
    path = replaced[0].path
    then = (
        "a write of type Once does not load the newer one: give that to a write of another name if it is wanted"
        if write.once
        else f"the newer one is loaded when you delete the run: remove {path} before if it must not be"
    )
    raise RunError(
        "ResultUnknown",
        "ResultUnknown",
        f"{path}{others} was replaced while it was loaded: snapshot {snapshot} holds rows of the older or newer one",
        f"look at the rows of snapshot {snapshot}; {then}",
    )


def replaced_files(loaded: Iterable[InputFile], now: Iterable[InputFile]) -> list[InputFile]:
    """Those of `loaded` that `now` has in another version."""
    versions = {file.path: file for file in now}
    return [file for file in loaded if versions.get(file.path, file) != file]


def _now(write: WriteJob, session: Session) -> list[InputFile]:
    try:
        return find_files(write, session)
    except RunError as error:
        if error.reason == "InputNotFound":  # tidied away with its folder
            return []
        raise


def _repeatable(table: Any) -> bool:
    """Whether rows that are loaded twice leave the table as if once."""
    if not table.schema().primaryKeys():
        return False
    options = table.schema().options()
    aggregates = any(str(key).endswith("aggregate-function") for key in options)
    return str(options.get("merge-engine") or "deduplicate") in REPEATABLE and not aggregates
