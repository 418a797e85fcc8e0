"""The commits of this run, in stretches without a commit of anybody else in between."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from paimon_contract.job import Job
from spark_apps.catalog.foreign_commits import Commits, InspectedCommit

MOST: Final = 1_000
"""Snapshots that are read at most, the newest ones. A run makes few commits, and others make few during it."""


@dataclass(frozen=True)
class Stretch:
    """Commits of the run one after the other: the snapshots after `before`, up to `after`.

    Each rewrote what it was based on, so the rows of `before` and `after` are the same ones.
    """

    before: int
    after: int

    @property
    def commits(self) -> int:
        """The number of commits."""
        return self.after - self.before


def own_stretches(job: Job, commits: Commits, since: int | None = None) -> list[Stretch]:
    """The commits of all attempts of this run after snapshot `since`, oldest first.

    By default they are looked for since the run before: another attempt of this run may have made them.
    """
    latest = commits.latest_id()
    first = job.since_snapshot if since is None else since
    # After a rollback the numbers after it belong to other commits.
    start = commits.earliest_id() if first is None or first > latest else max(first + 1, commits.earliest_id())
    found = (commits.commit(number) for number in range(max(start, latest - MOST + 1, 1), latest + 1))
    return _stretches(each for each in found if each is not None and is_own(job, each))


def is_own(job: Job, commit: InspectedCommit) -> bool:
    """Whether an attempt of this run made the commit."""
    return commit.user.startswith(f"{job.commit_user}_")


def _stretches(own: Iterable[InspectedCommit]) -> list[Stretch]:
    found: list[Stretch] = []
    for each in own:
        if found and found[-1].after == each.snapshot_id - 1:
            found[-1] = Stretch(found[-1].before, each.snapshot_id)
        else:
            found.append(Stretch(each.snapshot_id - 1, each.snapshot_id))
    return found
