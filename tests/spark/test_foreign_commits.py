"""The next run reports a foreign commit, whatever its operation is. It reports no other commit."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from paimon_contract.documents import to_json
from paimon_engines.engine import Engine
from spark_apps.catalog import foreign_commits
from spark_apps.catalog.foreign_commits import FileCommits
from spark_apps.driver.dispatch import read_job
from spark_apps.metadata.snapshots import SnapshotFiles
from spark_apps.metadata.volume import VolumeFiles
from tests.spark.lake import OWNER, Ended, Lake
from tests.support.spark_home import SparkHome
from tests.support.spark_process import Worker

COLUMNS = {"id": "BIGINT", "v": "INT"}
RUNS: dict[str, Callable[[Lake], Ended]] = {
    "Provision": lambda lake: lake.provision(COLUMNS, keys=["id"], options={"bucket": "1"}),
    "Write": lambda lake: lake.write(),
    "Compact": lambda lake: lake.compact(),
    "ExpireSnapshots": lambda lake: lake.expire(numRetainedMin=1, numRetainedMax=1),
}


@dataclass
class Watched(Lake):
    """A lake whose runs have UIDs of Kubernetes' form and detect foreign commits after snapshot `since`."""

    since: int | None = None
    more: dict[str, Any] = field(default_factory=dict)
    """Further members of each job."""

    def job(self, operation: str, *, run: str | None = None, **member: Any) -> dict[str, Any]:
        document = super().job(operation, run=run, **member)
        name = document["run"]["name"]
        uid = str(uuid.uuid5(uuid.NAMESPACE_OID, name))
        document["run"]["uid"], document["commitUser"] = uid, f"{name}-{uid}"
        document |= self.more
        return document | ({} if self.since is None else {"sinceSnapshot": self.since})


@pytest.fixture
def lake(engine: Engine, worker: Worker, home: SparkHome, tmp_path: Path) -> Watched:
    return Watched(engine, worker, home, tmp_path)


@pytest.fixture
def loaded(lake: Watched) -> Watched:
    """A table with one commit of the operator, snapshot 1."""
    RUNS["Provision"](lake).ok()
    load(lake, 1)
    assert [each["snapshot_id"] for each in lake.snapshots()] == [1]
    return lake


def load(lake: Lake, number: int) -> Ended:
    lake.land(f"orders/{number}.csv", f"id,v\n{number},0\n")
    done = lake.write()
    done.ok()
    return done


def insert(lake: Lake) -> None:
    lake.outside("INSERT INTO outside.shop.orders VALUES (7, 7)")


def test_every_operation_reports_the_foreign_commit_and_the_last_snapshot_inspected(loaded: Watched) -> None:
    insert(loaded)
    loaded.since = 1
    (foreign,) = [each for each in loaded.snapshots() if each["snapshot_id"] == 2]

    for name in ("Provision", "Write", "Compact", "ExpireSnapshots"):
        result = RUNS[name](loaded).ok()

        reported = result["outsideCommit"]
        assert (reported["snapshotId"], reported["kind"], reported["commitUser"]) == (
            2,
            "APPEND",
            foreign["commit_user"],
        ), name
        assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", reported["time"])
        assert result["seenSnapshot"] >= 2


def test_the_files_alone_show_the_same_commits(loaded: Watched) -> None:
    """A driver that ends without a JVM reports them from there."""
    insert(loaded)
    loaded.since = 1
    document = loaded.compact_job()
    commits = FileCommits(SnapshotFiles(VolumeFiles(), f"{loaded.warehouse}/shop.db/orders"))

    alone = to_json(foreign_commits.inspected(read_job(json.dumps(document)), commits, OWNER))

    assert {key: value for key, value in loaded.perform(document).ok().items() if key in alone} == alone
    assert alone["outsideCommit"]["snapshotId"] == 2


def test_a_failing_run_reports_the_foreign_commit_too(loaded: Watched) -> None:
    insert(loaded)
    loaded.since = 1
    loaded.land("orders/wrong.csv", "id,colour\n1,red\n")

    failed = loaded.write()

    failed.refused("InputSchemaMismatch")
    assert (failed.result["outsideCommit"]["snapshotId"], failed.result["seenSnapshot"]) == (2, 2)


@pytest.mark.parametrize(
    ("sentence", "keys", "options", "mode"),
    [
        ("writers that compact", ["id"], {"bucket": "1", "num-sorted-run.compaction-trigger": "2"}, "Upsert"),
        ("buckets that grow", ["id"], {"bucket": "-1"}, "Upsert"),
        ("a table without keys", [], {"bucket": "-1"}, "Append"),
        ("dedicated compaction", ["id"], {"bucket": "1", "write-only": "true"}, "Upsert"),
    ],
)
def test_no_commit_of_a_run_of_the_operator_is_reported(
    lake: Watched, sentence: str, keys: list[str], options: dict[str, str], mode: str
) -> None:
    lake.provision(COLUMNS, keys=keys, options=options).ok()
    for number in range(3):
        lake.land(f"orders/{number}.csv", f"id,v\n{number},0\n")
        lake.write(mode=mode).ok()
    lake.compact().ok()
    lake.since = 0

    result = lake.provision(COLUMNS, keys=keys, options=options).ok()

    assert "outsideCommit" not in result, sentence
    assert result["seenSnapshot"] == len(lake.snapshots()) >= 3


def test_commits_up_to_the_known_snapshot_are_not_reported_again(loaded: Watched) -> None:
    insert(loaded)
    loaded.since = 2
    load(loaded, 2)

    assert "outsideCommit" not in loaded.compact().ok()


def test_without_a_known_snapshot_a_run_reports_only_its_first_snapshot(loaded: Watched) -> None:
    insert(loaded)

    result = loaded.compact().ok()

    assert ("outsideCommit" in result, result["seenSnapshot"]) == (False, 2)


def test_commits_before_an_adoption_are_not_reported(lake: Watched) -> None:
    lake.outside(
        "CREATE DATABASE outside.shop",
        "CREATE TABLE outside.shop.orders (id BIGINT NOT NULL, v INT) TBLPROPERTIES ('primary-key'='id', 'bucket'='1')",
    )
    insert(lake)
    lake.since = 0

    result = RUNS["Provision"](lake).ok()

    assert ("outsideCommit" in result, result["seenSnapshot"]) == (False, 1)


def test_commits_of_a_table_recreated_by_another_writer_are_not_reported(loaded: Watched) -> None:
    """Its snapshots start at 1, below the known one, even if the table has the operator's owner."""
    loaded.since = 5
    properties = f"'primary-key'='id', 'bucket'='1', 'paimon-operator.owner'='{OWNER}'"
    loaded.outside(
        "DROP TABLE outside.shop.orders",
        f"CREATE TABLE outside.shop.orders (id BIGINT NOT NULL, v INT) TBLPROPERTIES ({properties})",
    )
    insert(loaded)

    result = RUNS["Provision"](loaded).ok()

    assert ("outsideCommit" in result, result["seenSnapshot"]) == (False, 1)


def test_a_missing_table_has_no_last_snapshot(loaded: Watched) -> None:
    loaded.outside("DROP TABLE outside.shop.orders")
    loaded.since = 1

    gone = loaded.compact()

    gone.blocked("TableNotFound")
    assert gone.result["seenSnapshot"] == 0


def test_a_run_stops_at_a_foreign_commit_before_it_commits_anything(loaded: Watched) -> None:
    insert(loaded)
    loaded.since, loaded.more = 1, {"stopAtForeignCommit": True}
    loaded.land("orders/2.csv", "id,v\n2,0\n")

    for name in ("Write", "Compact", "ExpireSnapshots"):
        stopped = RUNS[name](loaded)

        assert "commit user" in stopped.blocked("OutsideCommit"), name
        assert (stopped.result["outsideCommit"]["snapshotId"], stopped.result["seenSnapshot"]) == (2, 2)
    assert [each["snapshot_id"] for each in loaded.snapshots()] == [1, 2]
    loaded.since = 2
    assert RUNS["Write"](loaded).ok()["write"]["rows"] == 1, "what is known stops no run"


@pytest.mark.parametrize("others", [1, 3], ids=["fewer commits than before", "as many commits as before"])
def test_commits_after_a_rollback_by_hand_are_found(loaded: Watched, others: int) -> None:
    for number in (2, 3):
        load(loaded, number)
    result = RUNS["Compact"](loaded).ok()
    loaded.since, loaded.more = result["seenSnapshot"], {"sinceCommit": result["seenCommit"]}
    loaded.outside("CALL outside.sys.rollback(table => 'shop.orders', version => '1')")
    assert "outsideCommit" not in RUNS["Provision"](loaded).ok(), "a rollback alone commits nothing"
    for _ in range(others):
        insert(loaded)

    assert RUNS["Provision"](loaded).ok()["outsideCommit"]["snapshotId"] == 2


UUID = "0b0a3c5e-7d8f-4a53-9d9b-2f3f0d6f3a11"
COMMIT_USERS = [
    (f"orders-write-8f3a91c2-{UUID}_{UUID}", True, "a run of a schedule"),
    (f"by-hand-{UUID}_{UUID}", True, "a run that a user named"),
    (f"this-run_{UUID}", True, "this run"),
    (f"compact-by-hand-{UUID}_{UUID}", False, "a Flink job with a prefix like the name and UID of a run"),
    (f"events-write-8f3a91c2-{UUID}_{UUID}", False, "a run of another table"),
    (UUID, False, "a writer without a name"),
    (f"etl_{UUID}", False, "a writer with a prefix of its own"),
    (f"orders-write-8f3a91c2_{UUID}", False, "a run's name alone"),
    (f"this-run-{UUID}", False, "a name that only begins like this run's"),
    ("", False, "a procedure that gives no name, expire_partitions"),
]
JOB = SimpleNamespace(
    operation="Compact",
    since_snapshot=0,
    since_commit=None,
    owner=OWNER,
    commit_user="this-run",
    run_prefix="orders-",
    user_runs=(f"by-hand-{UUID}",),
)


@pytest.mark.some_rows(4)
@pytest.mark.parametrize(("commit_user", "ours", "who"), COMMIT_USERS, ids=[case[2] for case in COMMIT_USERS])
def test_only_runs_of_the_table_are_the_operators(commit_user: str, ours: bool, who: str) -> None:
    assert foreign_commits.is_run_commit(commit_user, cast(Any, JOB)) is ours, who


def test_while_the_runs_of_users_are_unknown_the_form_of_the_commit_user_decides() -> None:
    """The status is of release 0.1."""
    old = cast(Any, SimpleNamespace(**vars(JOB) | {"user_runs": None}))
    assert foreign_commits.is_run_commit(f"compact-by-hand-{UUID}_{UUID}", old)
    assert not foreign_commits.is_run_commit(f"etl_{UUID}", old)


class ManySnapshots:
    """Stands in for a table of the operator with very many snapshots, and records which of them are read."""

    def __init__(self, latest: int, foreign: int) -> None:
        self.latest, self.foreign, self.read = latest, foreign, list[int]()

    def snapshotManager(self) -> ManySnapshots:  # noqa: N802  (Java's name)
        return self

    def latestSnapshotId(self) -> int:  # noqa: N802
        return self.latest

    def earliestSnapshotId(self) -> int:  # noqa: N802
        return 1

    def snapshot(self, number: int) -> Any:
        self.read.append(number)
        user = "somebody\n" + "é" * 200 if number == self.foreign else f"orders-write-8f3a91c2-{UUID}_{UUID}"
        kind = SimpleNamespace(toString=lambda: "APPEND")
        return SimpleNamespace(
            commitUser=lambda: user,
            commitKind=lambda: kind,
            timeMillis=lambda: 1_800_000_000_123,
            commitIdentifier=lambda: number,
        )


@pytest.mark.parametrize(("foreign", "found"), [(3, True), (2500, False), (4999, True)])
def test_of_very_many_snapshots_the_oldest_and_the_newest_are_read(foreign: int, found: bool) -> None:
    table = ManySnapshots(5000, foreign)

    seen = foreign_commits.inspected(cast(Any, JOB), foreign_commits.JavaCommits(table), OWNER)

    assert (seen.outside_commit is not None, seen.seen_snapshot) == (found, 5000)
    assert len(table.read) <= 1001
    if seen.outside_commit is not None:
        assert seen.outside_commit.snapshot_id == foreign
        assert seen.outside_commit.commit_user == ("somebody?" + "?" * 200)[:100]
        assert seen.outside_commit.time == "2027-01-15T08:00:00Z"
