"""Expiry in calls that have a limit each."""

from __future__ import annotations

from typing import Self

import pytest

from spark_apps.catalog.expiry import expire_all_snapshots


class Table:
    """A table (Java) whose snapshots and changelogs expire in these numbers per call, with a limit of 10."""

    def __init__(self, snapshots: list[int], changelogs: list[int], earliest: int | None = 1) -> None:
        self.snapshots, self.changelogs, self.earliest = snapshots, changelogs, earliest
        self.asked = 0
        """How often for the latest snapshot."""

    def snapshotManager(self) -> Self:  # noqa: N802
        return self

    def latestSnapshotId(self) -> int:  # noqa: N802
        self.asked += 1
        return 99

    def earliestLongLivedChangelogId(self) -> int | None:  # noqa: N802
        return self.earliest

    def newExpireSnapshots(self) -> Expiry:  # noqa: N802
        return Expiry(self.snapshots)

    def newExpireChangelog(self) -> Expiry:  # noqa: N802
        return Expiry(self.changelogs)


class Expiry:
    def __init__(self, left: list[int]) -> None:
        self.left = left

    def config(self, _: Limits) -> Expiry:
        return self

    def expire(self) -> int:
        return self.left.pop(0)


class Limits:
    def getSnapshotMaxDeletes(self) -> int:  # noqa: N802
        return 10

    def getChangelogMaxDeletes(self) -> int:  # noqa: N802
        return 10

    def getChangelogRetainMin(self) -> int:  # noqa: N802
        return 5


CASES = {
    "nothing": ([0], 0),
    "fewer than one call takes": ([3], 3),
    "as many as one call takes": ([10, 0], 10),
    "more": ([10, 10, 4], 24),
}


@pytest.mark.parametrize(("calls", "total"), CASES.values(), ids=CASES)
def test_calls_end_with_the_first_that_had_less_to_do_than_its_limit(calls: list[int], total: int) -> None:
    table = Table(snapshots=list(calls), changelogs=list(calls))
    assert expire_all_snapshots(table, Limits(), lambda: True) == total
    assert (table.snapshots, table.changelogs) == ([], [])


@pytest.mark.parametrize(
    ("sentence", "earliest", "calls"),
    [("there are none", None, 0), ("all of the last five", 95, 0), ("six of them", 94, 1), ("fewer than five", 98, 0)],
)
def test_changelogs_expire_only_where_more_exist_than_the_smallest_number(
    sentence: str, earliest: int | None, calls: int
) -> None:
    table = Table(snapshots=[0], changelogs=[0], earliest=earliest)
    assert expire_all_snapshots(table, Limits(), lambda: True) == 0
    assert 1 - len(table.changelogs) == calls, sentence
    assert table.asked == (earliest is not None), "four requests to S3, for nothing where there is no changelog"


def test_paimon_is_not_asked_for_changelogs_where_there_certainly_are_none() -> None:
    table = Table(snapshots=[3], changelogs=[0])
    assert expire_all_snapshots(table, Limits(), lambda: bool(table.snapshots)) == 3, (
        "asked once snapshots have expired"
    )
    assert table.changelogs == [0]


class Failing:
    """An expiry (Java) that fails."""

    def __init__(self) -> None:
        self.calls = 0

    def config(self, _: Limits) -> Failing:
        return self

    def expire(self) -> int:
        self.calls += 1
        raise OSError("the storage is away")


def test_a_failed_expiry_is_not_repeated_and_removes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only where a changelog is in its way, which an expiry that was killed has left: tests/spark has that one."""
    table, failing = Table(snapshots=[], changelogs=[]), Failing()
    monkeypatch.setattr(table, "newExpireSnapshots", lambda: failing)
    with pytest.raises(OSError, match="the storage is away"):
        expire_all_snapshots(table, Limits(), lambda: True)
    assert failing.calls == 1
