"""The decisions about a catalog: its conditions, and when a deleted catalog is released."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from paimon_operator.api.catalog.spec import CatalogStatus, PaimonCatalog
from paimon_operator.api.conditions import ConditionType, find
from paimon_operator.api.reasons import Reason
from paimon_operator.core.catalog.plan import CatalogObserved, plan_catalog
from paimon_operator.core.commits.warehouses import WarehouseIndex
from paimon_operator.core.decision import Decision
from paimon_operator.core.naming import FINALIZER
from paimon_operator.core.spec.place import place_of_warehouse
from tests.support import builders


def catalog(*, guarded: bool = True, deleted: bool = False, **spec: Any) -> PaimonCatalog:
    update = {
        "finalizers": (FINALIZER,) if guarded else (),
        "deletion_timestamp": builders.NOW if deleted else None,
    }
    built = builders.catalog(**spec)
    return built.model_copy(update={"metadata": built.metadata.model_copy(update=update)})


def decide(seen: PaimonCatalog, **observed: Any) -> Decision[CatalogStatus]:
    operator = builders.operator_facts(unavailable_engines={"paimon-0.9": "it has no image here"})
    return plan_catalog(seen, CatalogObserved(**observed), operator, builders.NOW)


def says(decision: Decision[CatalogStatus], type_: str) -> tuple[str, str] | None:
    assert decision.status is not None
    condition = find(decision.status.conditions, ConditionType(type_))
    return (condition.status.value, condition.reason) if condition else None


def test_the_finalizer_comes_with_the_first_status() -> None:
    decision = decide(catalog(guarded=False))
    assert decision.finalizer == "add"
    assert replace(decision, finalizer="keep") == decide(catalog())


def test_ready_is_unknown_until_a_run_has_reached_the_storage() -> None:
    assert says(decide(catalog()), "Ready") == ("Unknown", Reason.STORAGE_UNVERIFIED)
    assert says(decide(catalog(), warehouses=frozenset({place_of_warehouse(catalog())})), "Ready") == (
        "True",
        Reason.STORAGE_REACHED,
    )


def unreached(table: str, minute: int = 0, reason: str = "StorageUnreachable") -> dict[str, Any]:
    """A stored table whose run has failed."""
    failure = {"run": "r", "reason": reason, "time": f"2026-11-21T08:{minute:02}:00Z"}
    return builders.table_manifest(table) | {"status": {"provision": {"failure": failure}}}


def reconcile(catalog_: PaimonCatalog, *tables: dict[str, Any]) -> tuple[PaimonCatalog, str, str]:
    """Reconciles the catalog with these tables. Returns it with its new status, and status and message of Ready."""
    decision = plan_catalog(catalog_, builders.catalog_observed(tables), builders.operator_facts(), builders.NOW)
    assert decision.status is not None
    ready = find(decision.status.conditions, ConditionType.READY)
    assert ready is not None
    return (
        catalog_.model_copy(update={"status": decision.status}),
        f"{ready.status.value} {ready.reason}",
        ready.message,
    )


def test_before_a_run_has_reached_the_storage_the_message_names_the_first_failed_table_by_name() -> None:
    _, ready, message = reconcile(
        catalog(), unreached("c", 1), unreached("a", 2, "CredentialsRefused"), unreached("b", 3)
    )
    assert ready == "Unknown CredentialsRefused"
    assert "PaimonTable a could not: CredentialsRefused. Correct the Secret" in message


def test_the_newest_failure_of_a_table_gives_the_reason() -> None:
    older = {"run": "r1", "reason": "AccessDenied", "time": "2026-11-21T08:00:00Z"}
    newer = {"run": "r2", "reason": "BucketNotFound", "time": "2026-11-21T09:00:00Z"}
    status = {"compaction": {"failure": newer}, "provision": {"failure": older}}
    _, ready, _ = reconcile(catalog(), builders.table_manifest("a") | {"status": status})
    assert ready == "Unknown BucketNotFound"


def test_a_run_that_failed_for_another_reason_does_not_concern_the_storage() -> None:
    _, ready, message = reconcile(catalog(), unreached("a", 1, "TableDiffers"))
    assert (ready, message) == ("Unknown StorageUnverified", Reason.STORAGE_UNVERIFIED.means)


def test_a_catalog_that_was_reached_stays_ready_and_names_a_table_that_cannot_reach_it_now() -> None:
    failure = {"run": "r", "reason": "StorageUnreachable", "time": "2026-11-21T08:00:00Z"}
    status = {"provision": {"lastTime": "2026-11-20T08:00:00Z"}, "writes": [{"name": "w", "failure": failure}]}
    seen, ready, message = reconcile(catalog(), builders.table_manifest("a") | {"status": status})
    assert ready == "True StorageReached"
    assert "PaimonTable a could not: StorageUnreachable" in message
    reached = builders.table_manifest("a") | {"status": {"provision": status["provision"]}}
    assert reconcile(seen, reached)[1:] == ("True StorageReached", Reason.STORAGE_REACHED.means)


def test_repeated_failures_of_many_tables_change_the_catalog_once() -> None:
    seen, _, first = reconcile(catalog(), *(unreached(f"t{n}", n % 50) for n in range(1000)))
    for minute in range(50, 60):
        again = [unreached(f"t{n}", minute if n % 7 == minute % 7 else n % 50) for n in range(1000)]
        seen, _, message = reconcile(seen, *again)
        assert message == first
    named = first.partition("PaimonTable ")[2].partition(" ")[0]
    _, _, message = reconcile(seen, *(unreached(f"t{n}", n % 50) for n in range(1000) if f"t{n}" != named))
    assert message != first, "the message still names a recovered table"
    assert len(message) < 400


def test_tables_that_fail_in_the_order_of_their_names_change_the_catalog_once() -> None:
    """Equal schedules start runs in the order of names. The catalog's message must not change with each run."""
    seen, _, first = reconcile(catalog(), unreached("t0000"))
    for count in range(2, 200):
        seen, _, message = reconcile(seen, *(unreached(f"t{n:04}", n % 50) for n in range(count)))
        assert message == first


def test_the_status_has_the_engine_and_the_number_of_tables() -> None:
    status = decide(catalog(), tables=12).status
    assert status is not None
    assert status.to_json()["engine"] == {"name": "paimon-1.4", "paimon": "1.4.2", "spark": "3.5"}
    assert status.tables == 12


@pytest.mark.parametrize(
    ("sentence", "spec", "reason", "words"),
    [
        ("an engine that is unknown", {"engine": "paimon-7.3"}, Reason.UNKNOWN_ENGINE, "Use one of: paimon-1.4."),
        ("an engine that is not here", {"engine": "paimon-0.9"}, Reason.UNKNOWN_ENGINE, "no image"),
        ("a location in the warehouse", {"locations": [{"name": "a", "uri": "s3://lake/warehouse/in/"}]}, Reason.INVALID_SPEC, "spec.locations[0].uri"),
        ("a location around the warehouse", {"locations": [{"name": "a", "uri": "s3://lake/"}]}, Reason.INVALID_SPEC, "inside one another"),
        ("a zone that is none", {"timeZone": "Mars/Base"}, Reason.INVALID_SPEC, "spec.timeZone"),
        ("a default at no time", {"tableDefaults": {"compaction": {"mode": "Dedicated", "full": {"schedule": "61 * * * *"}}}}, Reason.INVALID_SPEC, "spec.tableDefaults.compaction.full.schedule"),
        ("a minor default at no time", {"tableDefaults": {"compaction": {"mode": "Dedicated", "minor": {"schedule": "61 * * * *"}}}}, Reason.INVALID_SPEC, "spec.tableDefaults.compaction.minor.schedule"),
        ("an expiry at no time", {"tableDefaults": {"retention": {"snapshots": {"schedule": "0 0 31 2 *"}}}}, Reason.INVALID_SPEC, "spec.tableDefaults.retention.snapshots.schedule"),
    ],
)  # fmt: skip
def test_an_invalid_catalog_is_stalled_with_the_reason_and_the_field(
    sentence: str, spec: dict[str, Any], reason: Reason, words: str
) -> None:
    decision = decide(catalog(**spec))
    assert says(decision, "Stalled") == ("True", reason), sentence
    assert decision.status is not None
    condition = find(decision.status.conditions, ConditionType.STALLED)
    assert condition is not None
    assert words in condition.message


def test_external_writers_make_the_catalog_unsafe() -> None:
    assert says(decide(catalog()), "CommitSafe") == ("True", Reason.SINGLE_COMMITTER)
    assert says(decide(catalog(), declared=2), "CommitSafe") == ("False", Reason.COMMIT_UNSAFE)


def test_an_undeclared_commit_is_unsafe_even_on_hdfs_where_buckets_grow_with_the_keys() -> None:
    commit = {"snapshotId": 7, "commitUser": "x", "kind": "APPEND", "time": "2026-11-20T12:00:00Z"}
    found = {"outsideWriters": {"stated": "None", "seenSnapshot": 7, "commit": commit}}

    def safe(**spec: Any) -> tuple[str, str] | None:
        plain = {"metadata": {"name": "t"}, "spec": builders.table(**spec).spec.to_json(), "status": found}
        on_hdfs = {"hdfs": {"configMapRef": {"name": "hadoop-conf"}, "user": "paimon"}}
        seen = catalog(warehouse="hdfs://nn:8020/lake", storage=on_hdfs, locations=[])
        observed = builders.catalog_observed([plain])
        return says(plan_catalog(seen, observed, builders.operator_facts(), builders.NOW), "CommitSafe")

    assert safe(bucket={"type": "Fixed", "fixed": {"count": 2}}) == ("True", "AtomicRename")
    assert safe() == ("False", "CommitUnsafe")


def test_a_suspension_and_its_end_are_reported() -> None:
    decision = decide(catalog(suspend=True))
    assert says(decision, "Suspended") == ("True", Reason.SUSPENDED)
    resumed = catalog().model_copy(update={"status": decision.status})
    assert says(decide(resumed), "Suspended") == ("False", Reason.NOT_SUSPENDED)
    assert says(decide(catalog()), "Suspended") is None


@pytest.mark.parametrize(("tables", "finalizer"), [(0, "remove"), (2, "keep")])
def test_a_deleted_catalog_stays_while_tables_refer_to_it(tables: int, finalizer: str) -> None:
    decision = decide(catalog(deleted=True), tables=tables)
    assert decision.finalizer == finalizer
    if finalizer == "keep":
        assert says(decision, "Stalled") == ("True", Reason.CATALOG_IN_USE)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["a"], "1 PaimonTable still refers to this catalog (a): Delete these PaimonTables."),
        (["c", "a", "b"], "3 PaimonTables still refer to this catalog (a, b, c): Delete these PaimonTables."),
        (
            ["e", "d", "c", "b", "a"],
            "5 PaimonTables still refer to this catalog (a, b, c, and 2 more): Delete these PaimonTables.",
        ),
    ],
)
def test_the_tables_of_a_deleted_catalog_are_named_in_condition_and_event(names: list[str], words: str) -> None:
    observed = builders.catalog_observed(builders.table_manifest(name) for name in names)
    decision = plan_catalog(catalog(deleted=True), observed, builders.operator_facts(), builders.NOW)
    assert decision.status is not None
    assert {c.message for c in decision.status.conditions if c.type in ("Ready", "Stalled")} == {words}
    assert [note.note for note in decision.events] == [words]


def test_a_deleted_catalog_without_our_finalizer_is_not_changed() -> None:
    assert decide(catalog(guarded=False, deleted=True)).finalizer == "keep"


def test_equal_observations_give_an_equal_status() -> None:
    seen = catalog()
    first = decide(seen, tables=3)
    assert decide(seen.model_copy(update={"status": first.status}), tables=3) == Decision(status=first.status)


def test_a_catalog_is_observed_from_stored_tables() -> None:
    tables: list[dict[str, Any]] = [
        builders.table_manifest("a", externalWriters="Active"),
        builders.table_manifest("b") | {"status": {"provision": {"lastTime": "2026-11-21T08:00:00Z"}}},
        builders.table_manifest("c") | {"status": {"provision": {"failure": {}}}},
    ]
    moved = {"ownership": {"place": "old:9000:s3://lake/warehouse/shop.db/d"}, **tables[1]["status"]}
    tables.append(builders.table_manifest("d") | {"status": moved})
    places = frozenset({"", "old:9000:s3://lake/warehouse"})
    expected = CatalogObserved(tables=4, warehouses=places, declared=1, first_names=("a", "b", "c"))
    assert builders.catalog_observed(tables) == expected


@pytest.mark.parametrize(("namespace", "named"), [("shop", True), ("rival", False)])
def test_a_catalog_whose_warehouse_lies_in_that_of_another_is_stalled(namespace: str, named: bool) -> None:
    index = WarehouseIndex()
    outer = builders.catalog("outer", namespace, warehouse="s3://lake/warehouse/inner", locations=[])
    index.put(outer.model_copy(update={"status": CatalogStatus(reached_at=builders.NOW)}))
    decision = decide(catalog(), overlap=index.overlap(catalog()))
    assert says(decision, "Stalled") == ("True", Reason.WAREHOUSE_OVERLAPS)
    assert decision.status is not None
    message = str(find(decision.status.conditions, ConditionType.STALLED))
    assert ("PaimonCatalog outer" in message) is named
