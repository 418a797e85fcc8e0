"""What Paimon creates and removes at a commit of a writer that compacts. Writers that do not compact leave it out.

The tags come first, because they keep snapshots. The consumers go before snapshots, because they keep them too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from spark_apps.catalog.session import Session
from spark_apps.catalog.warehouse_files import is_empty
from spark_apps.failures.causes import is_caused_by
from spark_apps.metadata.table_files import location_of

CALL_LIMIT: Final = {"snapshot.expire.limit": "1000"}
"""Snapshots per call, as Paimon's option, whose default is 10 or 50: the paths of their files are in memory at once."""


def run_automatic_tags(table: Any) -> None:
    """Creates the tags that are due by the options of `table` (Java), and removes those past their number or time."""
    store = table.store()
    manager = store.newTagAutoManager(table) if "newTagAutoManager" in dir(store) else store.newTagCreationManager()
    manager.run()


def expire_consumers(session: Session, table: Any) -> None:
    """Removes the consumers without progress for longer than the options of `table` (Java) allow."""
    after = table.coreOptions().consumerExpireTime()
    if after is None:
        return
    branch = table.snapshotManager().branch()
    manager = session.jvm.org.apache.paimon.consumer.ConsumerManager(table.fileIO(), table.location(), branch)
    manager.expire(session.jvm.java.time.LocalDateTime.now().minus(after))


def expire_all_snapshots(table: Any, retention: Any, may_have_changelogs: Callable[[], bool]) -> int:
    """Expires all snapshots beyond `retention` (Java ExpireConfig), then the changelogs that outlived theirs.

    Returns the number of snapshots. Those that a tag or a consumer needs stay.
    `may_have_changelogs` is asked after snapshots have expired: whether the table may have such changelogs.
    """
    expired = _expire_snapshots(table, retention)
    if may_have_changelogs() and _may_expire_changelogs(table, retention):
        _until_fewer(int(retention.getChangelogMaxDeletes()), table.newExpireChangelog().config(retention))
    return expired


def may_have_outlived_changelogs(session: Session) -> bool:
    """Whether the job's table may have changelogs that have outlived their snapshots."""
    return not is_empty(session, f"{location_of(session.job)}/changelog")


def _expire_snapshots(table: Any, retention: Any) -> int:
    per_call, expire = int(retention.getSnapshotMaxDeletes()), table.newExpireSnapshots().config(retention)
    try:
        return _until_fewer(per_call, expire)
    except Exception as error:
        if not is_caused_by(error, "FileAlreadyExistsException"):
            raise
    _remove_copied_changelog(table)
    return _until_fewer(per_call, expire)


def _remove_copied_changelog(table: Any) -> None:
    """Removes the changelog of the earliest snapshot, if there is one.

    An expiry writes it just before it deletes the snapshot. After a kill in between, both are there. Paimon 0.9 does
    not replace such a file: every later expiry of the table would fail (SnapshotManager.commitChangelog).
    """
    earliest = table.snapshotManager().earliestSnapshotId()
    table.fileIO().deleteQuietly(_changelogs_of(table).longLivedChangelogPath(earliest))


def _changelogs_of(table: Any) -> Any:
    """The manager (Java) of the changelogs that have outlived their snapshots."""
    return table.changelogManager() if "changelogManager" in dir(table) else table.snapshotManager()


def _may_expire_changelogs(table: Any, retention: Any) -> bool:
    """Whether there are changelogs beyond the smallest number. Where there are fewer, Paimon asks for one that is none.

    Both engines fail then: ExpireChangelogImpl.expireUntil.
    """
    earliest = _changelogs_of(table).earliestLongLivedChangelogId()
    latest = None if earliest is None else table.snapshotManager().latestSnapshotId()
    if earliest is None or latest is None:
        return False
    return int(latest) - int(retention.getChangelogRetainMin()) + 1 > int(earliest)


def _until_fewer(per_call: int, expire: Any) -> int:
    """Calls `expire` (Java) until it has less to do than one call may. Returns the total."""
    total = count = int(expire.expire())
    while count >= per_call:
        count = int(expire.expire())
        total += count
    return total
