"""What a run has put into the table, by all its attempts together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paimon_contract.result import LoadSummary
from spark_apps.catalog.snapshots import Commit, find_commits

if TYPE_CHECKING:
    from spark_apps.loading.ledger import Entry, Ledger


@dataclass(frozen=True)
class Loaded:
    """An entry that is in the table, every attempt of its run, and all that these have committed, oldest first."""

    entry: Entry
    attempts: list[Entry]
    commits: list[Commit]

    @property
    def commit(self) -> Commit | None:
        """The entry's own; None when its files held no row."""
        after = (commit for commit in self.commits if commit.snapshot > self.entry.snapshot_before)
        return next(after, None)

    @property
    def result(self) -> LoadSummary:
        """The same for the report."""
        commit = self.commit
        rows, snapshot = (commit.rows, commit.snapshot) if commit else (0, None)
        return LoadSummary(files=len(self.entry.files), rows=rows, committed_snapshot=snapshot)


def loaded_with(entry: Entry, ledger: Ledger, table: Any) -> Loaded:
    """What the run of `entry` has committed: by the snapshots, and by its markers where those have expired.

    It is one commit, unless a driver was given up for dead and was not.
    """
    attempts = ledger.attempts(entry.run)
    noted = [commit for attempt in attempts for commit in ledger.commits(attempt)]
    found = find_commits(table, entry.commit_user, min(attempt.snapshot_before for attempt in attempts))
    commits = {commit.snapshot: commit for commit in [*noted, *found]}
    return Loaded(entry, attempts, [commits[number] for number in sorted(commits)])
