"""What Paimon creates and removes at a commit of a writer that compacts. Writers that do not compact leave it out.

The tags come first, because they keep snapshots. The consumers go before snapshots, because they keep them too.
"""

from __future__ import annotations

from typing import Any, Final

from spark_apps.catalog.session import Session

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


def expire_all_snapshots(table: Any, retention: Any) -> int:
    """Expires all snapshots beyond `retention` (Java ExpireConfig), then the changelogs that outlived theirs.

    Returns the number of snapshots. Those that a tag or a consumer needs stay.
    """
    per_call = int(retention.getSnapshotMaxDeletes())
    expired = _until_fewer(per_call, table.newExpireSnapshots().config(retention))
    if _may_expire_changelogs(table, retention):
        _until_fewer(int(retention.getChangelogMaxDeletes()), table.newExpireChangelog().config(retention))
    return expired


def _may_expire_changelogs(table: Any, retention: Any) -> bool:
    """Whether there are changelogs beyond the smallest number. Where there are fewer, Paimon asks for one that is none.

    Both engines fail then: ExpireChangelogImpl.expireUntil.
    """
    manager = table.changelogManager() if "changelogManager" in dir(table) else table.snapshotManager()
    earliest = manager.earliestLongLivedChangelogId()
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
