"""CommitSafe for every combination of storage, metastore, locks of the engine and foreign writers."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from paimon_operator.api.catalog.metastore import MetastoreType
from paimon_operator.api.catalog.storage import SCHEMES
from paimon_operator.api.conditions import ConditionStatus, ConditionType
from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.catalog.plan import CatalogObserved, plan_catalog
from paimon_operator.core.commits.commit_safety import commit_safe, protection_of
from paimon_operator.core.naming import FINALIZER
from paimon_operator.core.storage.commit_protection import Protection
from tests.support import builders
from tests.support.table_world import TableWorld

FIXED: dict[str, Any] = {"bucket": {"type": "Fixed", "fixed": {"count": 2}}}
LOCKS = frozenset({"PostgreSQL", "Hive"})
NO_LOCK: frozenset[str] = frozenset()
COMMIT = {"snapshotId": 813, "commitUser": "flink", "kind": "APPEND", "time": "2026-11-21T08:00:00Z"}
S3 = "on S3 a commit can replace another one, and the metastore Filesystem has no lock: commits can get lost"
CLAIM = "on a volume a commit can replace another one, and the metastore Filesystem has no lock: commits can get lost"
HDFS = "HDFS accepts one of two commits, and the other writer notices and commits again"
LOCK = "the operator commits under the metastore's lock, and other writers must too: same uri, lock.enabled=true"
NOTHING = "nothing is known to serialise commits here: commits can get lost"
ALONE = "Only the operator commits to the table, with one run at a time."
FOUND = (
    "snapshot 813 (APPEND, 2026-11-21T08:00:00Z) was made by commit user flink, not by the operator, while "
    "externalWriters is {}: commits can get lost. Stop that writer, then set externalWriters to {}; or, if it must "
    "continue"
)
UNLOCKED = ", to Active, and the catalog's commitPolicy to AllowUnsafe."
LOCKED = " and commits under the metastore's lock, to Active."

# storage, metastore, locks of the engine: reason with declared writers, reason with found ones, message
KEPT = [
    ("s3", "Filesystem", NO_LOCK, "CommitUnsafe", "OutsideCommit", S3),
    ("s3", "Filesystem", LOCKS, "CommitUnsafe", "OutsideCommit", S3),
    ("s3", "Jdbc", LOCKS, "CommitLock", "OutsideCommit", LOCK),
    ("s3", "Jdbc", NO_LOCK, "CommitUnsafe", "OutsideCommit", NOTHING),
    ("s3", "Hive", LOCKS, "CommitLock", "OutsideCommit", LOCK),
    ("s3", "Hive", NO_LOCK, "CommitUnsafe", "OutsideCommit", NOTHING),
    ("claim", "Filesystem", NO_LOCK, "CommitUnsafe", "OutsideCommit", CLAIM),
    ("claim", "Filesystem", LOCKS, "CommitUnsafe", "OutsideCommit", CLAIM),
    ("claim", "Jdbc", LOCKS, "CommitLock", "OutsideCommit", LOCK),
    ("claim", "Jdbc", NO_LOCK, "CommitUnsafe", "OutsideCommit", NOTHING),
    ("claim", "Hive", LOCKS, "CommitLock", "OutsideCommit", LOCK),
    ("claim", "Hive", NO_LOCK, "CommitUnsafe", "OutsideCommit", NOTHING),
    ("hdfs", "Filesystem", NO_LOCK, "AtomicRename", "AtomicRename", HDFS),
    ("hdfs", "Filesystem", LOCKS, "AtomicRename", "AtomicRename", HDFS),
    ("hdfs", "Jdbc", LOCKS, "CommitLock", "OutsideCommit", LOCK),
    ("hdfs", "Jdbc", NO_LOCK, "CommitUnsafe", "OutsideCommit", NOTHING),
    ("hdfs", "Hive", LOCKS, "CommitLock", "OutsideCommit", LOCK),
    ("hdfs", "Hive", NO_LOCK, "CommitUnsafe", "OutsideCommit", NOTHING),
]
SAFE = {"SingleCommitter", "CommitLock", "AtomicRename"}


def found_status(stated: str) -> TableStatus:
    return TableStatus.model_validate({"outsideWriters": {"stated": stated, "seenSnapshot": 814, "commit": COMMIT}})


STORAGES: dict[str, dict[str, Any]] = {
    "s3": {},
    "hdfs": {"warehouse": "hdfs://nn:8020/lake", "storage": {"hdfs": {}}, "locations": []},
    "claim": {"warehouse": "file:///data/lake", "storage": {"claim": {"name": "disk"}}, "locations": []},
}
METASTORES: dict[str, dict[str, Any]] = {
    "Filesystem": {},
    "Jdbc": {
        "metastore": {"type": "Jdbc", "jdbc": {"uri": "jdbc:postgresql://pg/x", "credentialsSecretRef": {"name": "pg"}}}
    },
    "Hive": {"metastore": {"type": "Hive", "hive": {"uri": "thrift://hms:9083"}}},
}


def protection(storage: str, metastore: str, locks: frozenset[str]) -> Protection:
    """The protection of a catalog of these kinds with an engine that supports these locks."""
    engine = dataclasses.replace(builders.engines()["paimon-1.4"], locks=locks)
    return protection_of(builders.catalog(**STORAGES[storage], **METASTORES[metastore]), engine)


def says(kept: Protection, writers: str, *, found: bool, **spec: Any) -> tuple[bool, str, str]:
    """Whether commits are safe, the reason and the message."""
    table = builders.table(**FIXED | {"externalWriters": writers} | spec)
    finding = commit_safe(table.spec, found_status(writers) if found else TableStatus(), kept)
    assert finding.type_ is ConditionType.COMMIT_SAFE
    return finding.status is ConditionStatus.TRUE, finding.reason, finding.message


def test_the_table_has_every_combination() -> None:
    storages = {*SCHEMES, "hdfs"}
    assert {(row[0], row[1], row[2]) for row in KEPT} == {
        (storage, metastore, locks) for storage in storages for metastore in MetastoreType for locks in (LOCKS, NO_LOCK)
    }


@pytest.mark.parametrize("row", KEPT, ids=lambda row: f"{row[0]} {row[1]} {' '.join(sorted(row[2])) or 'without lock'}")
def test_every_combination_has_its_status_reason_and_message(
    row: tuple[str, str, frozenset[str], str, str, str],
) -> None:
    storage, metastore, locks, declared, found, sentence = row
    kept = protection(storage, metastore, locks)
    would = "would be safe" if declared in SAFE else "would not be safe"
    lead = "Other writers commit to the table:" if declared in SAFE else "Other writers commit to the table, and"

    for writers in ("None", "Paused"):
        told = f"{ALONE} Other writers {would}: {sentence}."
        assert says(kept, writers, found=False) == (True, "SingleCommitter", told)
    for discovered in (False, True):  # Active accounts for every commit
        told = f"{lead} {sentence}."
        assert says(kept, "Active", found=discovered) == (declared in SAFE, declared, told)
    for writers, other in (("None", "Paused"), ("Paused", "None")):
        way_out = FOUND.format(writers, other) + (LOCKED if declared == "CommitLock" else UNLOCKED)
        told = f"Other writers commit to the table: {sentence}." if found in SAFE else way_out
        assert says(kept, writers, found=True) == (found in SAFE, found, told)


def test_where_buckets_grow_with_the_keys_a_foreign_commit_is_unsafe_even_on_hdfs() -> None:
    kept = protection("hdfs", "Filesystem", NO_LOCK)
    safe, reason, message = says(kept, "None", found=True, bucket=None)
    assert (safe, reason) == (False, "OutsideCommit")
    assert message.endswith("Stop that writer, then set externalWriters to Paused.")


JDBC = {"type": "Jdbc", "jdbc": {"uri": "jdbc:postgresql://pg/lake", "credentialsSecretRef": {"name": "pg"}}}
HIVE = {"type": "Hive", "hive": {"uri": "thrift://hms:9083"}}
CLAIMED = {"storage": {"claim": {"name": "disk"}}, "warehouse": "file:///data/lake", "locations": []}
CATALOGS: list[tuple[dict[str, Any], str]] = [
    ({}, S3),
    ({"metastore": None}, S3),
    ({"metastore": JDBC}, LOCK),
    ({"metastore": JDBC, "engine": "paimon-0.9"}, NOTHING),
    ({"metastore": HIVE}, LOCK),
    ({"metastore": HIVE, "engine": "paimon-0.9"}, LOCK),
    ({"storage": {"hdfs": {}}, "warehouse": "hdfs://namenode:8020/lake", "locations": []}, HDFS),
    (CLAIMED, CLAIM),
    (CLAIMED | {"metastore": JDBC}, LOCK),
]


@pytest.mark.parametrize(("spec", "sentence"), CATALOGS)
def test_the_protection_of_a_catalog_follows_from_its_manifest_and_its_engine(
    spec: dict[str, Any], sentence: str
) -> None:
    catalog = builders.catalog(**spec)
    engine = builders.operator_facts().engines[catalog.spec.engine or "paimon-1.4"]
    assert protection_of(catalog, engine).sentence == sentence


@pytest.mark.parametrize(
    ("metastore", "counts", "says", "message"),
    [
        (None, (0, 0), "True SingleCommitter", f"{ALONE} Other writers would not be safe: {S3}."),
        (None, (2, 0), "False CommitUnsafe", f"2 tables have foreign writers whose commits nothing serialises: {S3}"),
        (None, (1, 1), "False CommitUnsafe", f"2 tables have foreign writers whose commits nothing serialises: {S3}"),
        (JDBC, (0, 0), "True SingleCommitter", f"{ALONE} Other writers would be safe: {LOCK}."),
        (JDBC, (1, 0), "True CommitLock", f"1 table has foreign writers: {LOCK}"),
        (JDBC, (5, 1), "False CommitUnsafe", f"1 table has foreign writers whose commits nothing serialises: {LOCK}"),
    ],
)
def test_a_catalog_reports_the_number_of_tables_with_foreign_writers(
    metastore: Any, counts: tuple[int, int], says: str, message: str
) -> None:
    catalog = builders.catalog(metastore=metastore)
    guarded = catalog.metadata.model_copy(update={"finalizers": (FINALIZER,)})
    observed = CatalogObserved(tables=7, declared=counts[0], found=counts[1])
    decision = plan_catalog(
        catalog.model_copy(update={"metadata": guarded}), observed, builders.operator_facts(), builders.NOW
    )
    assert decision.status is not None
    (condition,) = (each for each in decision.status.conditions if each.type == "CommitSafe")
    assert (f"{condition.status.value} {condition.reason}", condition.message) == (says, message)


@pytest.mark.parametrize(
    ("metastore", "writers", "policy", "starts"),
    [
        (None, "None", "RequireSafe", True),
        (None, "Paused", "RequireSafe", True),
        (None, "Active", "RequireSafe", False),
        (None, "Active", "AllowUnsafe", True),
        (JDBC, "Active", "RequireSafe", True),
    ],
)
def test_an_unsafe_run_starts_only_if_the_catalog_allows_it(
    metastore: Any, writers: str, policy: str, starts: bool
) -> None:
    seen = TableWorld(
        table=builders.table(**FIXED, externalWriters=writers),
        catalog=builders.catalog(metastore=metastore, commitPolicy=policy),
    )
    seen.settle()
    assert bool(seen.created) is starts
    if not starts:
        assert seen.says("Stalled") == ("True", Reason.COMMIT_UNSAFE)
        assert S3 in seen.condition("Stalled").message
