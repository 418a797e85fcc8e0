"""The rows that a run has loaded, by all its attempts together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from paimon_contract.result import LoadSummary
from spark_apps.catalog.snapshots import Commit, find_commits
from spark_apps.loading.ledger import Entry, Ledger


@dataclass(frozen=True)
class Loaded:
    """An entry that is in the table, every attempt of its run, and all commits of these, oldest first."""

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
        """The part of the run's result."""
        commit = self.commit
        rows, snapshot = (commit.rows, commit.snapshot) if commit else (0, None)
        return LoadSummary(files=len(self.entry.files), rows=rows, committed_snapshot=snapshot)


def loaded_with(entry: Entry, ledger: Ledger, table: Any) -> Loaded:
    """The commits of the run of `entry`: by the snapshots, and by its markers where those have expired.

    There is more than one only if a driver that was taken for dead was still alive.
    """
    attempts = ledger.attempts(entry.run)
    recorded = [commit for attempt in attempts for commit in ledger.commits(attempt)]
    found = find_commits(table, entry.commit_user, min(attempt.snapshot_before for attempt in attempts))
    commits = {commit.snapshot: commit for commit in [*recorded, *found]}
    return Loaded(entry, attempts, [commits[number] for number in sorted(commits)])
