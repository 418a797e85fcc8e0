"""An undeclared foreign commit counts as an active external writer until the user declares the writer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from paimon_contract.job import Job
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core.commits import foreign_commits
from paimon_operator.core.launch.job import build_job
from paimon_operator.core.spec.capabilities import may_be_active
from tests.support import builders
from tests.support.table_world import TableWorld

FIXED = {"bucket": {"type": "Fixed", "fixed": {"count": 2}}}
HOURLY = {"snapshots": {"numRetainedMin": 1, "schedule": "0 * * * *"}}
FOREIGN = {
    "snapshotId": 813,
    "commitUser": "0b0a3c5e-7d8f-4a53-9d9b-2f3f0d6f3a11",
    "kind": "APPEND",
    "time": "2026-11-21T08:00:00Z",
}


class World(TableWorld):
    """A Ready table with an hourly schedule, last inspected at snapshot 812."""

    def __init__(self, *, policy: str = "RequireSafe", **spec: Any) -> None:
        super().__init__(
            table=builders.table(**FIXED | {"retention": HOURLY} | spec),
            catalog=builders.catalog(commitPolicy=policy),
        )
        self.settle()
        self.finish("Provision", created=False, seenSnapshot=812)
        self.run_due()

    def start_run(self) -> World:
        """Starts the next scheduled run."""
        self.wait(hours=1)
        self.settle()
        assert self.active.spec.type == "ExpireSnapshots"
        return self

    def found(self, seen: int = 814, **commit: Any) -> World:
        """Ends a run that found a foreign commit."""
        self.start_run().finish(seenSnapshot=seen, outsideCommit=FOREIGN | commit)
        self.settle()
        return self

    def job(self, type_: str = "ExpireSnapshots") -> Job:
        """The job of a run that is launched now."""
        assert self.catalog is not None
        run = builders.run("any", table=self.table, type=type_, compact=None)
        return build_job(run, self.table, self.catalog, self.operator)

    @property
    def since(self) -> int | None:
        """The snapshot after which a run launched now inspects commits."""
        return self.job().since_snapshot

    @property
    def starts_run(self) -> bool:
        """Whether the next tick starts a run."""
        before = len(self.created)
        self.wait(hours=1)
        self.settle()
        return len(self.created) > before


def test_a_run_inspects_commits_since_the_start_of_the_previous_run() -> None:
    """From its end on, a foreign commit during the previous run would never be inspected."""
    seen = World()
    assert seen.since == 812
    seen.start_run().finish(seenSnapshot=820, after={"snapshotId": 822})
    seen.settle()
    assert seen.since == 820


def test_a_table_without_snapshots_is_inspected_from_its_first_commit_on() -> None:
    seen = TableWorld()
    seen.settle()
    seen.finish("Provision", created=True, seenSnapshot=0)
    seen.settle()
    known = seen.table.status.outside_writers
    assert known is not None
    assert known.seen_snapshot == 0


def test_commits_before_the_table_was_verified_under_this_object_are_ignored() -> None:
    seen = TableWorld()
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.TABLE_DIFFERS, seenSnapshot=812, outsideCommit=FOREIGN)
    seen.settle()
    assert seen.says("CommitSafe") == ("True", Reason.SINGLE_COMMITTER)
    known = seen.table.status.outside_writers
    assert known is not None
    assert (known.seen_snapshot, known.commit) == (None, None)


def test_an_undeclared_commit_blocks_runs_that_commit_and_reports_the_writer_and_the_overrides() -> None:
    seen = World().found()
    assert seen.says("CommitSafe") == ("False", Reason.OUTSIDE_COMMIT)
    assert seen.says("Stalled") == ("True", Reason.COMMIT_UNSAFE)
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)
    for type_ in ("CommitSafe", "Stalled"):
        assert seen.condition(type_).message == (
            "snapshot 813 (APPEND, 2026-11-21T08:00:00Z) was made by commit user 0b0a3c5e-7d8f-4a53-9d9b-2f3f0d6f3a11, "
            "not by the operator, while externalWriters is None: commits can get lost. Stop that writer, then set "
            "externalWriters to Paused; or, if it must continue, to Active, and the catalog's commitPolicy to "
            "AllowUnsafe."
        )
    assert not seen.starts_run


def test_an_undeclared_commit_makes_one_event() -> None:
    seen = World().start_run()
    seen.decisions.clear()
    seen.finish(seenSnapshot=814, outsideCommit=FOREIGN)
    seen.settle()
    seen.wait(minutes=10)
    seen.settle()
    notes = [event for decision in seen.decisions for event in decision.events if "813" in event.note]
    assert [(note.type_, note.reason) for note in notes] == [("Warning", Reason.COMMIT_UNSAFE)]


def test_a_failed_run_reports_an_undeclared_commit_too() -> None:
    seen = World().start_run()
    seen.fail(FailureClass.CONFLICT, Reason.COMMIT_CONFLICT, seenSnapshot=814, outsideCommit=FOREIGN)
    seen.settle()
    assert seen.says("CommitSafe") == ("False", Reason.OUTSIDE_COMMIT)


IDENTITY = "1800000000123/0a1b2c3d"
JDBC = {"type": "Jdbc", "jdbc": {"uri": "jdbc:postgresql://pg/lake", "credentialsSecretRef": {"name": "lake-pg"}}}


@pytest.mark.parametrize(
    ("sentence", "seen", "stops"),
    [
        ("S3 without a lock", World(), True),
        ("others are stopped for now", World(externalWriters="Paused"), True),
        ("a lock that undeclared writers need not take", World(), True),
        ("buckets that grow with the keys", World(bucket=None, policy="AllowUnsafe"), True),
        ("losses may be risked", World(policy="AllowUnsafe"), None),
        ("others are declared", World(policy="AllowUnsafe", externalWriters="Active"), None),
        ("a foreign commit is known", World(policy="AllowUnsafe").found(), None),
    ],
)
def test_a_run_stops_at_a_foreign_commit_where_the_rules_would_not_have_started_it(
    sentence: str, seen: World, stops: bool | None
) -> None:
    if "lock" in sentence and "undeclared" in sentence:
        seen.catalog = builders.catalog(metastore=JDBC)
    assert seen.job().stop_at_foreign_commit is stops, sentence
    assert seen.job("Provision").stop_at_foreign_commit is None, "verification commits no rows"


def test_a_run_that_stopped_at_a_foreign_commit_is_repeated_once_the_writer_is_declared() -> None:
    seen = World().start_run()
    seen.fail(FailureClass.ENVIRONMENT, Reason.OUTSIDE_COMMIT, seenSnapshot=814, outsideCommit=FOREIGN)
    seen.settle()
    assert seen.says("Stalled") == ("True", Reason.COMMIT_UNSAFE)
    seen.wait(minutes=16)
    assert seen.run_due() == []
    seen.edit(externalWriters="Paused")
    assert seen.run_due() == [("ExpireSnapshots", "")]
    assert seen.says("Healthy")[0] == "True"


def test_a_run_inspects_commits_from_a_snapshot_that_it_knows_by_its_identity() -> None:
    seen = World().start_run()
    seen.finish(seenSnapshot=820, seenCommit=IDENTITY)
    seen.settle()
    assert (seen.job().since_snapshot, seen.job().since_commit) == (820, IDENTITY)


def test_runs_of_users_are_known_by_name_and_uid_after_they_are_deleted() -> None:
    seen = World()
    for number in range(20):
        run = builders.run(f"by-hand-{number}", table=seen.table, metadata={"creationTimestamp": seen.now})
        seen.runs.append(run)
        seen.settle()
        seen.finish("Compact", seenSnapshot=820, seenCommit=IDENTITY)
        ended = seen.active
        seen.settle()
        seen.remove(ended)
    known = [f"by-hand-{number}-uid-of-by-hand-{number}" for number in range(4, 20)]
    assert list(seen.job().user_runs or ()) == known


def test_a_status_of_release_0_1_says_nothing_of_the_runs_of_users_until_a_run_reports_where_it_began() -> None:
    seen = World()
    assert seen.job().user_runs is None
    seen.start_run().fail(FailureClass.INFRASTRUCTURE, Reason.POD_LOST)
    seen.settle()
    assert seen.job().user_runs is None
    seen.start_run().finish(seenSnapshot=820, seenCommit=IDENTITY)
    seen.settle()
    assert seen.job().user_runs == ()


def test_with_allow_unsafe_runs_continue_and_the_first_commit_stays_reported() -> None:
    seen = World(policy="AllowUnsafe").found().found(seen=830, snapshotId=829)
    assert seen.says("CommitSafe") == ("False", Reason.OUTSIDE_COMMIT)
    assert seen.condition("CommitSafe").message.startswith("snapshot 813 ")
    assert seen.says("Stalled")[0] == "False"
    assert (seen.since, seen.starts_run) == (830, True)


def test_an_edit_of_another_field_keeps_the_report() -> None:
    seen = World().found()
    seen.edit(timeZone="Europe/Berlin")
    seen.settle()
    assert seen.says("CommitSafe") == ("False", Reason.OUTSIDE_COMMIT)


def test_once_the_user_declares_paused_runs_continue_and_the_same_commit_is_not_reported_again() -> None:
    seen = World().found()
    seen.edit(externalWriters="Paused")
    seen.settle()
    assert seen.says("CommitSafe") == ("True", Reason.SINGLE_COMMITTER)
    assert seen.since is None, "all commits before the edit are declared, those after the last inspection too"
    seen.start_run().finish(seenSnapshot=815)
    seen.settle()
    assert seen.since == 815


def test_a_commit_under_paused_is_reported_and_none_is_the_override() -> None:
    seen = World(externalWriters="Paused").found()
    assert seen.says("Stalled") == ("True", Reason.COMMIT_UNSAFE)
    assert "while externalWriters is Paused" in seen.condition("CommitSafe").message
    assert "set externalWriters to None;" in seen.condition("CommitSafe").message
    seen.edit(externalWriters=None)
    seen.settle()
    assert (seen.says("CommitSafe"), seen.since) == (("True", Reason.SINGLE_COMMITTER), None)


def test_commits_made_under_active_are_not_reported_after_an_edit() -> None:
    seen = World(policy="AllowUnsafe", externalWriters="Active")
    assert seen.since is None, "commits are inspected under Active"
    seen.start_run().finish(seenSnapshot=900)
    seen.settle()
    seen.edit(externalWriters="None")
    seen.settle()
    assert (seen.says("CommitSafe"), seen.since) == (("True", Reason.SINGLE_COMMITTER), None)


def test_a_commit_found_by_a_run_that_was_active_during_the_edit_is_ignored() -> None:
    seen = World().start_run()
    seen.edit(externalWriters="Paused")
    seen.settle()
    assert seen.since is None
    seen.finish(seenSnapshot=814, outsideCommit=FOREIGN)
    seen.settle()
    assert (seen.says("CommitSafe"), seen.since) == (("True", Reason.SINGLE_COMMITTER), None)


def test_an_edit_to_active_applies_at_once_even_while_a_run_is_active() -> None:
    seen = World().found()
    seen.edit(externalWriters="Active")
    seen.settle()
    assert seen.says("CommitSafe") == ("False", Reason.COMMIT_UNSAFE)
    known = seen.table.status.outside_writers
    assert known is not None
    assert known.commit is None


def test_a_table_whose_buckets_allow_one_writer_gets_no_override_to_active() -> None:
    seen = World(bucket=None).found()
    assert seen.condition("CommitSafe").message.endswith("Stop that writer, then set externalWriters to Paused.")


def test_a_blocked_table_is_verified_after_an_edit_and_the_verification_is_retried() -> None:
    seen = World().found()
    seen.edit(options={"write-buffer-size": "64 mb"})
    seen.settle()
    assert seen.active.spec.type == "Provision"
    seen.fail(FailureClass.ENVIRONMENT, Reason.STORAGE_UNREACHABLE)
    decision = seen.settle()
    assert seen.says("Stalled") == ("True", Reason.COMMIT_UNSAFE)
    assert decision.requeue_after is not None
    seen.wait(minutes=20)
    seen.settle()
    seen.finish("Provision", created=False)
    seen.settle()
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)
    assert seen.says("Stalled") == ("True", Reason.COMMIT_UNSAFE)


def test_a_suspended_blocked_table_is_not_verified() -> None:
    seen = World().found()
    before = len(seen.created)
    seen.edit(options={"write-buffer-size": "64 mb"}, suspend=True)
    seen.settle()
    assert len(seen.created) == before


def test_a_commit_without_a_commit_user_is_reported_as_such() -> None:
    assert "was made by an unnamed commit user" in World().found(commitUser="").condition("CommitSafe").message


PAUSED: dict[str, Any] = {"externalWriters": "Paused"}


@pytest.mark.parametrize(
    ("sentence", "spec", "outside", "counted"),
    [
        ("declared", {"externalWriters": "Active"}, {"stated": "Active"}, (1, 0, 0)),
        ("found", FIXED, {"stated": "None", "commit": FOREIGN}, (0, 1, 0)),
        ("found without keys", {"schema": builders.EVENTS}, {"stated": "None", "commit": FOREIGN}, (0, 1, 0)),
        ("found where buckets grow with the keys", {}, {"stated": "None", "commit": FOREIGN}, (0, 0, 1)),
        ("found though paused", FIXED | PAUSED, {"stated": "Paused", "commit": FOREIGN}, (0, 1, 0)),
        (
            "declared after it was found",
            {"externalWriters": "Active"},
            {"stated": "None", "commit": FOREIGN},
            (1, 0, 0),
        ),
        ("declared by an edit", PAUSED, {"stated": "None", "commit": FOREIGN}, (0, 0, 0)),
        ("no foreign commit", {}, {"stated": "None", "seenSnapshot": 812}, (0, 0, 0)),
    ],
)
def test_a_catalog_counts_tables_with_foreign_writers(
    sentence: str, spec: dict[str, Any], outside: dict[str, Any], counted: tuple[int, int, int]
) -> None:
    table = builders.table_manifest(**spec) | {"status": {"outsideWriters": outside}}
    observed = builders.catalog_observed([table])
    assert (observed.declared, observed.found, observed.unsupported) == counted, sentence
    model = PaimonTable.model_validate(table)
    found = foreign_commits.undeclared_commit(model.spec, model.status) is not None
    assert found == (counted[1] + counted[2] > 0), "plain JSON and the model give the same answer"
    assert not found or may_be_active(model.spec) == (counted[1] > 0)


def test_where_buckets_grow_with_the_keys_no_policy_allows_two_writers() -> None:
    """Two writers can put one key into two buckets."""
    growing = {"bucket": {"type": "Dynamic"}}
    seen = World(policy="AllowUnsafe", **growing).found()
    assert seen.says("Stalled") == ("True", Reason.COMMIT_UNSAFE)
    assert not seen.starts_run
    assert World(policy="AllowUnsafe").found().starts_run, "fixed buckets bear it, where losses may be risked"


def test_repeated_failures_of_the_verification_change_no_condition() -> None:
    seen = World().found()
    seen.edit(options={"file.compression": "zstd"})
    reported = set()
    for _ in range(4):
        seen.wait(minutes=20)
        seen.settle()
        seen.fail(FailureClass.ENVIRONMENT, Reason.STORAGE_UNREACHABLE)
        for _ in range(3):
            seen.reconcile()
            reported.add((seen.says("Stalled"), seen.says("Reconciling")[0]))
    assert reported == {(("True", Reason.COMMIT_UNSAFE), "False")}


@pytest.mark.parametrize("edit", [{"suspend": True}, {"externalWriters": "Active"}], ids=["suspended", "unsafe"])
def test_a_named_run_is_not_created_after_an_edit_that_blocks_it(edit: dict[str, Any]) -> None:
    """Its create was refused, or the answer was lost. A run without a UID has not started."""
    seen = World()
    seen.wait(hours=1)
    seen.carry_out(replace(seen.decide(), actions=()))
    assert seen.table.status.active_run is not None
    before = len(seen.created)
    seen.edit(**edit)
    seen.settle()
    assert len(seen.created) == before
    assert seen.table.status.active_run is None
    seen.edit(suspend=False, externalWriters="None")
    seen.wait(minutes=20)
    seen.settle()
    assert len(seen.created) == before + 1, "the tick is due again"
