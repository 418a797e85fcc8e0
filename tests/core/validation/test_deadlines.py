"""With a Hive metastore no run may be stopped before it has watched the lock of a driver that died."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_contract.hive import LOCK_STALE_AFTER_S
from paimon_operator.core.launch.job import build_job
from paimon_operator.core.validation.catalog import catalog_problems
from paimon_operator.core.validation.table import broken_rules
from paimon_operator.errors import SpecError
from spark_apps.catalog.metastores.hive_locks import STALE_AFTER_S
from tests.support import builders

HIVE = {"type": "Hive", "hive": {"uri": "thrift://hms:9083"}}
JDBC = {"type": "Jdbc", "jdbc": {"uri": "jdbc:postgresql://db:5432/lake", "credentialsSecretRef": {"name": "db"}}}
TOO_SHORT = ["30s", "299s", "300s", "1m", "5m"]
LONG_ENOUGH = ["301s", "6m", "1h", "1d"]


def policy(deadline: str | None) -> dict[str, Any]:
    return {"runPolicy": {"activeDeadline": deadline}} if deadline else {}


def problems(metastore: dict[str, Any], *, of_table: str | None = None, of_catalog: str | None = None) -> list[str]:
    catalog = builders.catalog(metastore=metastore, tableDefaults=policy(of_catalog) or None)
    table = builders.table(**policy(of_table))
    found = [*catalog_problems(catalog, builders.operator_facts()), *broken_rules(builders.context(table, catalog))]
    return [error.field for error in found]


def test_the_operator_and_the_driver_know_the_same_time() -> None:
    assert LOCK_STALE_AFTER_S == STALE_AFTER_S


@pytest.mark.parametrize("deadline", TOO_SHORT)
def test_a_short_deadline_is_refused_where_it_is_set(deadline: str) -> None:
    assert problems(HIVE, of_table=deadline) == ["spec.runPolicy.activeDeadline"]
    assert problems(HIVE, of_catalog=deadline) == ["spec.tableDefaults.runPolicy.activeDeadline"]


@pytest.mark.parametrize("deadline", LONG_ENOUGH)
def test_a_longer_deadline_is_accepted(deadline: str) -> None:
    assert problems(HIVE, of_table=deadline, of_catalog=deadline) == []


def test_without_a_lock_to_watch_any_deadline_is_accepted() -> None:
    for metastore in (JDBC, {"type": "Filesystem"}):
        assert problems(metastore, of_table="30s", of_catalog="30s") == []


@pytest.mark.parametrize("deadline", TOO_SHORT)
def test_a_users_run_with_a_short_deadline_is_refused_with_the_reason_and_a_remedy(deadline: str) -> None:
    table, catalog = builders.table(), builders.catalog(metastore=HIVE)
    run = builders.run("mine", table=table, activeDeadline=deadline)
    with pytest.raises(SpecError) as refused:
        build_job(run, table, catalog, builders.operator_facts())
    assert refused.value.field == "spec.activeDeadline"
    assert "watches its lock for 300 s" in refused.value.problem
    assert "more than 300 s" in refused.value.remedy
