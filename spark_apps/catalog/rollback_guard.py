"""What a rollback would take from others. Then the table keeps the rows of the commit, and a human decides.

Paimon gives the numbers of the snapshots that are gone to later commits. So a reader that has come further skips these,
and tags of these snapshots are deleted. Nothing in Paimon keeps a commit from being made at the same moment: where
another writer was seen, nothing is rolled back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from paimon_contract.job import Job
from spark_apps.catalog.foreign_commits import Commits, is_run_commit
from spark_apps.catalog.own_commits import Stretch, is_own
from spark_apps.metadata.base import MetadataFiles, UnreadableError
from spark_apps.metadata.snapshots import ExpiredError, number_in, read_snapshot
from spark_apps.metadata.table_files import TableFiles, location_of

_ICEBERG: Final = "metadata.iceberg.storage"
_OFF: Final = "disabled"
_NO_TAG: Final = "tag-success-file"


def why_not_rolled_back(job: Job, files: MetadataFiles, commits: Commits, stretch: Stretch, since: int) -> str | None:
    """Why the table is not rolled back to the snapshot before the stretch; None: nobody else loses anything.

    `since`: the snapshot after which commits are those of the time of this run.
    """
    try:
        return next(_reasons(job, files, commits, stretch, since), None)
    except UnreadableError as error:
        return f"it is unknown who else uses the later snapshots: {error}"


def _reasons(job: Job, files: MetadataFiles, commits: Commits, stretch: Stretch, since: int) -> Iterator[str]:
    location = location_of(job)
    schema = TableFiles(files, location).latest_schema()
    if schema is None:
        raise UnreadableError(f"{location} has no schema")
    if schema.options.get(_ICEBERG, _OFF).lower() != _OFF:
        yield f"readers of Iceberg would keep the rows of the commit, because the table has {_ICEBERG}"
    yield from _later_tags(files, location, stretch.before)
    yield from _later_branches(files, location, stretch)
    yield from _later_consumers(files, location, stretch.before)
    yield from _others(job, commits, min(since, stretch.before))  # last, because it can happen at any moment


def _others(job: Job, commits: Commits, since: int) -> Iterator[str]:
    for number in range(max(since + 1, commits.earliest_id(), 1), commits.latest_id() + 1):
        found = commits.commit(number)
        if found is not None and not is_own(job, found) and not is_run_commit(found.user, job):
            yield f"somebody else has committed snapshot {number}, and may commit again meanwhile"


def _later_tags(files: MetadataFiles, location: str, before: int) -> Iterator[str]:
    for name in sorted(files.names(f"{location}/tag")):
        if not name.startswith("tag-") or name == _NO_TAG:
            continue
        kept = read_snapshot(files, f"{location}/tag/{name}")
        if kept is not None and kept.id > before:
            yield f"it would delete tag {name.removeprefix('tag-')} of snapshot {kept.id}"


def _later_branches(files: MetadataFiles, location: str, stretch: Stretch) -> Iterator[str]:
    """Engines before 1.2 delete the data files of the snapshots, also those from which a branch was made."""
    for name in sorted(files.names(f"{location}/branch")):
        for number in range(stretch.before + 1, stretch.after + 1):
            if read_snapshot(files, f"{location}/branch/{name}/snapshot/snapshot-{number}") is not None:
                yield f"{name} may have been made from snapshot {number}"


def _later_consumers(files: MetadataFiles, location: str, before: int) -> Iterator[str]:
    for name in sorted(files.names(f"{location}/consumer")):
        if not name.startswith("consumer-"):
            continue
        next_ = _next_of(files, f"{location}/consumer/{name}")
        if next_ > before + 1:
            reader = name.removeprefix("consumer-")
            yield f"consumer {reader} goes on at snapshot {next_}, and would skip the commits that get earlier numbers"


def _next_of(files: MetadataFiles, path: str) -> int:
    next_ = number_in(files, path, "nextSnapshot")
    if next_ is None:
        raise ExpiredError(f"{path} does not exist any more")
    return next_
