"""A change of engine is an edit: the table is verified first, and an older engine needs the catalog's consent."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.api.table.status import TableStatus
from tests.support import builders
from tests.support.table_world import TableWorld

OLD, NEW = "paimon-0.9", "paimon-1.4"
HOURLY = {"snapshots": {"schedule": "0 * * * *"}}


def on(engine: str | None, **spec: Any) -> PaimonCatalog:
    return builders.catalog(engine=engine, **spec)


def ready_on(engine: str, **spec: Any) -> TableWorld:
    """A table that this engine has verified, with nothing due."""
    seen = TableWorld(table=builders.table(**spec), catalog=on(engine)).ready()
    while seen.table.status.active_run:
        seen.finish()
        seen.settle()
    seen.created.clear()
    return seen


def test_the_status_says_which_engine_verified_the_table_last() -> None:
    seen = TableWorld(catalog=on(OLD))
    seen.settle()
    assert seen.table.status.engine is None, "no run has verified it yet"
    seen.finish("Provision", created=True)
    seen.settle()
    assert seen.table.status.engine == OLD


def test_a_newer_engine_verifies_the_table_before_anything_else_runs() -> None:
    seen = ready_on(OLD, retention=HOURLY)
    seen.catalog = on(NEW)
    seen.wait(hours=1)
    seen.settle()
    assert seen.started == [("Provision", "")]
    assert seen.says("Ready") == ("Unknown", Reason.PROVISIONING)
    assert seen.table.status.engine == OLD, "until the run has succeeded"
    seen.finish("Provision", created=False)
    seen.settle()
    assert seen.table.status.engine == NEW
    assert seen.active.spec.type == "ExpireSnapshots", "scheduled runs go on"


def test_the_default_engine_of_the_operator_counts_like_the_engine_of_the_catalog() -> None:
    seen = TableWorld(operator=builders.operator_facts(default_engine=OLD)).ready()
    seen.operator = builders.operator_facts(default_engine=NEW)
    seen.settle()
    assert seen.started == [("Provision", "")] * 2


def test_a_change_of_engine_leaves_the_hash_of_the_desired_table() -> None:
    seen = ready_on(OLD)
    before = seen.table.status.provision
    seen.catalog = on(NEW)
    seen.settle()
    seen.finish("Provision", created=False)
    seen.settle()
    after = seen.table.status.provision
    assert before is not None
    assert after is not None
    assert after.hash == before.hash
    assert after.created is True


def test_while_the_verification_fails_not_even_maintenance_runs() -> None:
    seen = ready_on(OLD, retention=HOURLY)
    seen.catalog = on(NEW)
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.STORAGE_UNREACHABLE)
    seen.wait(hours=2)
    seen.settle()
    assert seen.started == [("Provision", "")] * 2
    assert seen.table.status.retention is not None
    assert seen.table.status.retention.decision is not None
    assert seen.table.status.retention.decision.reason == Reason.TABLE_NOT_READY


def test_a_table_that_one_engine_refused_is_tried_again_by_another() -> None:
    seen = TableWorld(catalog=on(OLD))
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.TABLE_REFUSED, "no such function")
    seen.settle()
    seen.settle()
    assert len(seen.created) == 1, "it waits for an edit"
    seen.catalog = on(NEW)
    seen.settle()
    assert len(seen.created) == 2
    assert seen.created[0].metadata.name != seen.created[1].metadata.name


def test_an_older_engine_stalls_the_table_and_starts_nothing() -> None:
    seen = ready_on(NEW, retention=HOURLY)
    seen.catalog = on(OLD)
    seen.wait(hours=3)
    seen.settle()
    assert seen.says("Stalled") == ("True", Reason.ENGINE_DOWNGRADE)
    assert seen.says("Ready") == ("False", Reason.ENGINE_DOWNGRADE)
    message = seen.condition("Stalled").message
    for word in (OLD, NEW, "lake", "allowDowngrade"):
        assert word in message
    assert seen.started == []


def test_a_downgrade_that_is_taken_back_leaves_the_table_ready_without_a_run() -> None:
    seen = ready_on(NEW)
    seen.catalog = on(OLD)
    seen.settle()
    seen.catalog = on(NEW)
    seen.settle()
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)
    assert seen.started == []


def test_a_downgrade_that_the_catalog_allows_verifies_the_table_with_the_older_engine() -> None:
    seen = ready_on(NEW)
    seen.catalog = on(OLD, allowDowngrade=True)
    seen.settle()
    assert seen.started == [("Provision", "")]
    seen.finish("Provision", created=False)
    seen.settle()
    assert seen.table.status.engine == OLD
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)


def test_a_table_of_an_engine_that_this_operator_does_not_know_is_not_taken_over_by_an_older_one() -> None:
    """An operator was rolled back to a release that does not have the engine."""
    seen = ready_on(NEW)
    seen.table = seen.table.model_copy(update={"status": seen.table.status.model_copy(update={"engine": "paimon-9.1"})})
    seen.settle()
    assert seen.says("Stalled") == ("True", Reason.ENGINE_DOWNGRADE)


def of_release_0_1(engine: str) -> TableWorld:
    """A table that this engine verified under a release whose status had no field for it."""
    seen = ready_on(engine)
    stored = seen.table.status.to_json()
    del stored["engine"]
    seen.table = seen.table.model_copy(update={"status": TableStatus.model_validate(stored)})
    return seen


def test_an_upgrade_of_the_operator_starts_no_run() -> None:
    seen = of_release_0_1(OLD)
    before = seen.table.status
    seen.settle()
    assert seen.started == []
    assert seen.table.status == before, "nor a write of the status"
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)


@pytest.mark.parametrize(("engine", "then", "reason"), [(OLD, NEW, "Provisioning"), (NEW, OLD, "EngineDowngrade")])
def test_a_switch_after_an_upgrade_of_the_operator_is_noticed(engine: str, then: str, reason: str) -> None:
    seen = of_release_0_1(engine)
    seen.settle()
    seen.catalog = on(then)
    seen.settle()
    seen.settle()
    assert seen.says("Ready")[1] == reason


def test_the_verifying_engine_is_the_one_the_run_was_started_with() -> None:
    """The catalog was edited while the run was under way."""
    seen = TableWorld(catalog=on(OLD))
    seen.settle()
    seen.finish("Provision", created=True, engine=OLD)
    seen.catalog = on(NEW)
    seen.settle()
    assert seen.table.status.engine == OLD
    assert seen.started == [("Provision", "")] * 2


def test_suspended_tables_wait_with_their_verification() -> None:
    seen = ready_on(OLD)
    seen.edit(suspend=True)
    seen.catalog = on(NEW)
    seen.settle()
    assert seen.started == []
    assert seen.says("Ready") == ("Unknown", Reason.SUSPENDED)
