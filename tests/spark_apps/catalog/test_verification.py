"""What a verification does about a difference, and what another attempt finds of it. Rows are fabricated here."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

from paimon_contract.parameters.verification import VerifyParameters
from paimon_contract.result import ResultTable, RowDifference, Verification
from paimon_schema.table_schema import TableSchema
from spark_apps.catalog import verification
from spark_apps.catalog.bucket_sample import Sample
from spark_apps.catalog.content import Content
from spark_apps.catalog.measure import Measured
from spark_apps.catalog.own_commits import Stretch
from spark_apps.catalog.verification import RunVerification, shared_columns, tag_name, tags_of_run, verified
from spark_apps.failures.errors import RunError
from spark_apps.metadata.volume import VolumeFiles
from tests.spark_apps.jobs import job
from tests.support.fabricated_table import schema_of

OWN, OTHER = "run-uid_1", "etl"
TAG = tag_name("run-uid", 1)


@dataclass
class Killed(BaseException):
    """The driver ends here."""


@dataclass
class JavaTable:
    """A table (Java) whose snapshot n was committed by `users[n - 1]` and has `rows[n - 1]` rows."""

    users: list[str]
    rows: list[int]
    earliest: int = 1
    tags: dict[str, int] = field(default_factory=dict)
    die_after_tag: bool = False
    die_after_rollback: bool = False
    die_during_rollback: bool = False

    def snapshotManager(self) -> Any:  # noqa: N802
        return SimpleNamespace(
            latestSnapshotId=lambda: len(self.users), earliestSnapshotId=lambda: self.earliest, snapshot=self._snapshot
        )

    def tagManager(self) -> Any:  # noqa: N802
        return SimpleNamespace(allTagNames=lambda: list(self.tags))

    def createTag(self, name: str, snapshot: int, kept: Any) -> None:  # noqa: N802, ARG002
        assert name not in self.tags, "Paimon refuses a tag that exists"
        self.tags[name] = snapshot
        if self.die_after_tag:
            raise Killed

    def rollbackTo(self, snapshot: int) -> None:  # noqa: N802
        if self.die_during_rollback:  # it deletes the newest snapshot first
            del self.users[-1], self.rows[-1]
            raise Killed
        del self.users[snapshot:], self.rows[snapshot:]
        if self.die_after_rollback:
            raise Killed

    def _snapshot(self, number: int) -> Any:
        if not self.earliest <= number <= len(self.users):
            raise FileNotFoundError(number)
        kind = SimpleNamespace(toString=lambda: "COMPACT")
        values = {"commitUser": self.users[number - 1], "commitIdentifier": 1, "commitKind": kind, "timeMillis": 0}
        return SimpleNamespace(**{name: lambda value=value: value for name, value in values.items()})


def attempt(table: JavaTable, *, rolls_back: bool = False) -> RunVerification:
    """An attempt of the run. Without a metadata file to read, it compares all rows."""
    of = job(commit_user="run-uid", since_snapshot=1, user_runs=())
    jvm = mock.MagicMock()
    session: Any = SimpleNamespace(job=of, existing_table=lambda: table, jvm=jvm)
    return RunVerification(session, VerifyParameters(whole=True, rolls_back=rolls_back))


def content(self: RunVerification, table: JavaTable, snapshot: int, *_: object) -> dict[str, Content]:
    return {"{}": (table.rows[snapshot - 1], 0, 7)}


@pytest.fixture(autouse=True)
def _fabricated_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RunVerification, "_content", content)
    monkeypatch.setattr(verification, "measure_table", lambda *_, **__: Measured(ResultTable(snapshot_id=3)))
    monkeypatch.setattr(verification, "why_not_rolled_back", lambda *_: None)
    monkeypatch.setattr(verification, "files_for", lambda _: VolumeFiles())
    monkeypatch.setattr("spark_apps.catalog.foreign_commits.is_caused_by", lambda *_: True)


def difference_of(found: RunVerification) -> RowDifference:
    """The difference with which the check must fail."""
    with pytest.raises(RunError) as failed:
        found.check()
    assert (failed.value.kind, failed.value.reason) == ("Spec", "VerificationFailed")
    assert failed.value.outcome is not None
    assert failed.value.outcome.verification is not None
    difference = failed.value.outcome.verification.difference
    assert difference is not None
    return difference


def test_equal_rows_are_reported_and_nothing_is_tagged() -> None:
    table = JavaTable([OTHER, OWN, OWN], [9, 9, 9])
    found = attempt(table)
    found.check()
    assert (found.summary(), table.tags) == (Verification(commits=2, rows=9), {})


def test_a_run_without_a_commit_has_compared_nothing() -> None:
    found = attempt(JavaTable([OTHER], [9]))
    found.check()
    assert found.summary() is None


def test_rows_of_other_commits_are_no_difference() -> None:
    found = attempt(JavaTable([OTHER, OWN, OTHER, OWN], [5, 5, 8, 8]))
    found.check()
    assert found.summary() == Verification(commits=2, rows=13)


def test_commits_are_compared_once() -> None:
    table = JavaTable([OTHER], [5])
    found = attempt(table)
    found.check()
    table.users.append(OWN)
    table.rows.append(5)
    found.check()
    found.check()
    assert found.summary() == Verification(commits=1, rows=5)


def test_a_difference_tags_the_older_snapshot_and_leaves_the_table() -> None:
    table = JavaTable([OTHER, OWN], [9, 8])
    difference = difference_of(attempt(table))
    assert (difference.before, difference.after, difference.tag, difference.rolled_back) == (1, 2, TAG, False)
    assert "rows 9 -> 8" in difference.found
    assert (table.tags, table.rows) == ({TAG: 1}, [9, 8])


def test_by_policy_the_table_is_rolled_back() -> None:
    table = JavaTable([OTHER, OWN], [9, 8])
    assert difference_of(attempt(table, rolls_back=True)).rolled_back is True
    assert (table.tags, table.rows) == ({TAG: 1}, [9])


def test_a_commit_after_the_difference_is_not_rolled_back() -> None:
    table = JavaTable([OTHER, OWN, OTHER], [9, 8, 12])
    assert difference_of(attempt(table, rolls_back=True)).rolled_back is False
    assert table.rows == [9, 8, 12]


def test_what_others_would_lose_is_not_rolled_back(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Stretch, int]] = []

    def why(*given: Any) -> str:
        asked.append(given[-2:])
        return "it would delete tag month-end of snapshot 2"

    monkeypatch.setattr(verification, "why_not_rolled_back", why)
    table = JavaTable([OTHER, OWN], [9, 8])
    with pytest.raises(RunError, match="it was not rolled back, because it would delete tag month-end") as failed:
        attempt(table, rolls_back=True).check()
    assert failed.value.outcome is not None
    assert failed.value.outcome.verification is not None
    assert failed.value.outcome.verification.difference is not None
    assert failed.value.outcome.verification.difference.rolled_back is False
    assert (table.tags, table.rows) == ({TAG: 1}, [9, 8])
    assert asked == [(Stretch(1, 2), 1)]


def test_a_sample_that_names_no_row_proves_nothing_so_all_rows_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """SQL may name a partition otherwise than Paimon."""
    asked: list[str | None] = []

    def rows(_: RunVerification, table: JavaTable, snapshot: int, *given: Any) -> dict[str, Content]:
        asked.append(given[-1].condition)
        return {} if given[-1].condition else {"{}": (table.rows[snapshot - 1], 0, 7)}

    monkeypatch.setattr(RunVerification, "_sample", lambda *_: Sample("`day` = 'mon '", 1))
    monkeypatch.setattr(RunVerification, "_content", rows)
    found = attempt(JavaTable([OTHER, OWN], [9, 9]))
    found.check()
    assert found.summary() == Verification(commits=1, rows=9)
    assert asked == ["`day` = 'mon '", "`day` = 'mon '", None, None]


def test_an_expired_snapshot_leaves_commits_uncompared() -> None:
    found = attempt(JavaTable([OTHER, OWN], [9, 8], earliest=2))
    found.check()
    assert found.summary() == Verification(commits=0, rows=0, uncompared=1)


@pytest.mark.parametrize("rolls_back", [False, True])
def test_an_attempt_that_was_killed_after_the_tag_is_repeated_with_the_same_end(*, rolls_back: bool) -> None:
    table = JavaTable([OTHER, OWN], [9, 8], die_after_tag=True)
    with pytest.raises(Killed):
        attempt(table, rolls_back=rolls_back).check()
    table.die_after_tag = False
    difference = difference_of(attempt(table, rolls_back=rolls_back))
    assert (difference.before, difference.tag, difference.rolled_back) == (1, TAG, rolls_back)
    assert table.tags == {TAG: 1}


def test_an_attempt_that_was_killed_after_the_rollback_is_reported_by_the_next_one() -> None:
    table = JavaTable([OTHER, OWN], [9, 8], die_after_rollback=True)
    with pytest.raises(Killed):
        attempt(table, rolls_back=True).check()
    difference = difference_of(attempt(table, rolls_back=True))
    assert (difference.before, difference.tag, difference.rolled_back) == (1, TAG, True)
    assert "an earlier attempt" in difference.found


def test_an_attempt_that_was_killed_during_the_rollback_is_reported_though_the_rest_has_the_same_rows() -> None:
    table = JavaTable([OTHER, OWN, OWN], [9, 9, 8], die_during_rollback=True)
    with pytest.raises(Killed):
        attempt(table, rolls_back=True).check()
    table.die_during_rollback = False
    difference = difference_of(attempt(table, rolls_back=True))
    assert (difference.before, difference.tag) == (1, TAG)
    assert "an earlier attempt" in difference.found


def test_batches_that_were_committed_before_one_that_failed_are_compared() -> None:
    table = JavaTable([OTHER], [9])

    def work() -> None:
        table.users.append(OWN)
        table.rows.append(8)
        raise OSError("the second batch")

    session = attempt(table).session
    with pytest.raises(RunError, match="other rows"):
        verified(session, VerifyParameters(whole=True, rolls_back=False), work)


def test_without_verify_nothing_is_compared() -> None:
    table = JavaTable([OTHER, OWN], [9, 8])
    assert verified(attempt(table).session, None, lambda: 7) == (7, None)


def test_tags_of_other_runs_and_of_users_are_none_of_this_run() -> None:
    names = [TAG, tag_name("another-uid", 1), "paimon-operator-verify-x", "paimon-operator-verify-2-", "v1"]
    assert tags_of_run("run-uid", names) == [1]


FIELDS = [
    {"id": 0, "name": "day", "type": "STRING NOT NULL"},
    {"id": 1, "name": "id", "type": "BIGINT NOT NULL"},
    {"id": 2, "name": "v", "type": "INT"},
]


@pytest.mark.parametrize(
    ("sentence", "changed", "expected"),
    [
        ("no edit", FIELDS, ["day", "id", "v"]),
        ("a column was added", [*FIELDS, {"id": 3, "name": "w", "type": "INT"}], ["day", "id", "v"]),
        ("a column was widened", [*FIELDS[:2], {"id": 2, "name": "v", "type": "BIGINT"}], ["day", "id"]),
        ("a column was renamed", [*FIELDS[:2], {"id": 2, "name": "w", "type": "INT"}], ["day", "id"]),
        ("a column was dropped and added", [*FIELDS[:2], {"id": 3, "name": "v", "type": "INT"}], ["day", "id"]),
        ("a comment was edited", [*FIELDS[:2], FIELDS[2] | {"description": "new"}], ["day", "id", "v"]),
    ],
)
def test_columns_that_both_snapshots_have(sentence: str, changed: list[dict[str, Any]], expected: list[str]) -> None:
    schemas: list[TableSchema] = [schema_of(fields=FIELDS), schema_of(id=1, fields=changed)]
    assert shared_columns(schemas) == expected, sentence
