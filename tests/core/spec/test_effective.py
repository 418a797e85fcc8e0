"""The effective settings of a table and their source: table, catalog or operator."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.api.table.effective import Effective
from paimon_operator.core.config import Defaults
from paimon_operator.core.spec.effective import effective_settings
from tests.support import builders


def effective(catalog: dict[str, Any] | None = None, engine: str = "paimon-1.4", **spec: Any) -> Effective:
    return effective_settings(
        builders.table(**spec), builders.catalog(**(catalog or {})), builders.engines()[engine], Defaults()
    )


def defaults(**blocks: Any) -> dict[str, Any]:
    return {"tableDefaults": blocks}


DEDICATED = {"mode": "Dedicated", "full": {"schedule": "0 5 * * *"}}
FILLED = {"mode": "Dedicated", "full": {"schedule": "0 5 * * *", "when": {"sortedRunsPerBucket": 2}}}
"""The same with the default of its threshold, for a table with primary key."""


@pytest.mark.parametrize(
    ("sentence", "catalog", "spec", "expected"),
    [
        ("no setting: inline", {}, {}, {"mode": "Inline", "source": "Default"}),
        ("the catalog's block", defaults(compaction=DEDICATED), {}, {**FILLED, "source": "Catalog"}),
        ("the table's block replaces it whole", defaults(compaction=DEDICATED), {"compaction": {"mode": "Inline"}}, {"mode": "Inline", "source": "Table"}),
        ("without schedules the operator's, at the table's own minute", {}, {"compaction": {"mode": "Dedicated"}}, {"mode": "Dedicated", "minor": {"schedule": "17,47 * * * *", "when": {"sortedRunsPerBucket": 5}}, "full": {"schedule": "22 3 * * *", "when": {"sortedRunsPerBucket": 2}}, "source": "Table"}),
        ("with one schedule there is no default for the other", {}, {"compaction": DEDICATED}, {**FILLED, "source": "Table"}),
    ],
)  # fmt: skip
def test_the_effective_compaction(
    sentence: str, catalog: dict[str, Any], spec: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert effective(catalog, **spec).to_json()["compaction"] == expected, sentence


@pytest.mark.parametrize(
    ("sentence", "spec", "minor", "full"),
    [
        ("with a primary key: sorted runs", {}, {"sortedRunsPerBucket": 5}, {"sortedRunsPerBucket": 2}),
        ("without one: small files", {"schema": builders.EVENTS}, {"smallFilesPerPartition": 5}, {"smallFilesPerPartition": 2}),
    ],
)  # fmt: skip
def test_the_default_threshold_follows_the_kind_of_table(
    sentence: str, spec: dict[str, Any], minor: dict[str, Any], full: dict[str, Any]
) -> None:
    found = effective(compaction={"mode": "Dedicated"}, **spec).to_json()["compaction"]
    assert (found["minor"]["when"], found["full"]["when"]) == (minor, full), sentence


def test_the_tables_own_thresholds_stay_and_only_its_usual_one_gets_a_default() -> None:
    given = {"maxDelay": "1h", "deleteRatio": "20%", "smallFilesPerPartition": 9}
    found = effective(compaction={"mode": "Dedicated", "full": {"schedule": "0 5 * * *", "when": given}})
    assert found.to_json()["compaction"]["full"]["when"] == given | {"sortedRunsPerBucket": 2}


def test_the_operators_default_has_no_minor_compaction_where_the_engine_has_none() -> None:
    assert "minor" not in effective(engine="paimon-0.9", compaction={"mode": "Dedicated"}).to_json()["compaction"]


@pytest.mark.parametrize(
    ("sentence", "catalog", "spec", "expected"),
    [
        ("no setting: Paimon's default", {}, {}, None),
        ("each member of retention is a block", defaults(retention={"snapshots": {"timeRetained": "7d"}}), {"retention": {}}, {"timeRetained": "7d", "source": "Catalog"}),
        ("the table's member replaces the catalog's whole", defaults(retention={"snapshots": {"timeRetained": "7d", "numRetainedMin": 3}}), {"retention": {"snapshots": {"timeRetained": "1d"}}}, {"timeRetained": "1d", "source": "Table"}),
        ("writers that skip expiry get the operator's schedule, at the table's own minute", {}, {"compaction": {"mode": "Dedicated"}}, {"schedule": "27 4 * * *", "source": "Default"}),
        ("the table's schedule is kept", {}, {"compaction": {"mode": "Dedicated"}, "retention": {"snapshots": {"schedule": "0 1 * * *"}}}, {"schedule": "0 1 * * *", "source": "Table"}),
        ("external compaction has no expiry", {}, {"compaction": {"mode": "External"}}, None),
    ],
)  # fmt: skip
def test_the_effective_retention(
    sentence: str, catalog: dict[str, Any], spec: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    assert effective(catalog, **spec).to_json().get("retention", {}).get("snapshots") == expected, sentence


KEYED: dict[str, Any] = {
    "columns": [{"name": "id", "type": "BIGINT"}, {"name": "at", "type": "INT"}],
    "primaryKeys": ["id"],
}
PARTITIONED: dict[str, Any] = {"columns": [{"name": "dt", "type": "STRING"}], "partitionKeys": ["dt"]}
CHANGELOGS, CONSUMERS = {"timeRetained": "3d"}, {"expirationTime": "7d"}
PARTITIONS, RECORDS = {"expirationTime": "9d"}, {"expireTime": "9d", "timeField": "at"}


@pytest.mark.parametrize(
    ("sentence", "member", "block", "spec", "expected"),
    [
        ("changelogs of a table that has some", "changelogs", CHANGELOGS, {"changelogProducer": {"type": "Input"}}, CHANGELOGS),
        ("no table without changelogs keeps any", "changelogs", CHANGELOGS, {}, None),
        ("nor one whose producer is None", "changelogs", CHANGELOGS, {"changelogProducer": {"type": "None"}}, None),
        ("consumers of any table", "consumers", CONSUMERS, {}, CONSUMERS),
        ("partitions of a table that has some", "partitions", PARTITIONS, {"schema": PARTITIONED}, PARTITIONS | {"strategy": "ValuesTime", "schedule": "40 2 * * *"}),
        ("a table without partitions drops none", "partitions", PARTITIONS, {"schema": KEYED}, None),
        ("records of a table with their time", "records", RECORDS, {"schema": KEYED}, RECORDS),
        ("no record without a time expires", "records", RECORDS, {}, None),
        ("nor one without a key", "records", RECORDS, {"schema": {"columns": KEYED["columns"]}}, None),
    ],
)  # fmt: skip
def test_a_retention_of_the_catalog_is_for_the_tables_that_it_applies_to(
    sentence: str, member: str, block: dict[str, Any], spec: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    found = effective(defaults(retention={member: block}), **spec).to_json().get("retention", {}).get(member)
    assert found == (None if expected is None else {**expected, "source": "Catalog"}), sentence


def test_a_retention_of_the_table_itself_is_never_left_out() -> None:
    found = effective(schema=KEYED, retention={"partitions": PARTITIONS}).to_json()["retention"]["partitions"]
    assert found["source"] == "Table", "so that validation can refuse it"


def test_the_tables_tags_replace_the_catalogs_whole() -> None:
    catalog = defaults(tags={"automaticCreation": "ProcessTime", "numRetainedMax": 30})
    assert effective().tags is None
    assert effective(catalog).to_json()["tags"] == {
        "automaticCreation": "ProcessTime",
        "numRetainedMax": 30,
        "source": "Catalog",
    }
    own = effective(catalog, tags={"automaticCreation": "Batch"}).to_json()["tags"]
    assert own == {"automaticCreation": "Batch", "source": "Table"}


@pytest.mark.parametrize(
    ("sentence", "catalog", "spec", "expected"),
    [
        ("the operator's size", {}, {}, {"cores": 1, "memory": "2Gi", "scratch": "10Gi", "source": "Default"}),
        ("the catalog's", {"spark": {"driver": {"cores": 2, "memory": "4Gi"}}}, {}, {"cores": 2, "memory": "4Gi", "scratch": "10Gi", "source": "Catalog"}),
        ("the table's replaces it whole; the operator fills the rest", {"spark": {"driver": {"cores": 2, "memory": "4Gi"}}}, {"spark": {"driver": {"memory": "8Gi"}}}, {"cores": 1, "memory": "8Gi", "scratch": "10Gi", "source": "Table"}),
        ("an account alone sets no size", {"spark": {"serviceAccountName": "x"}}, {}, {"cores": 1, "memory": "2Gi", "scratch": "10Gi", "source": "Default"}),
    ],
)  # fmt: skip
def test_the_effective_size_of_the_driver(
    sentence: str, catalog: dict[str, Any], spec: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert effective(catalog, **spec).to_json()["driver"] == expected, sentence


@pytest.mark.parametrize(
    ("sentence", "catalog", "spec", "mode", "executor"),
    [
        ("no setting: one pod", {}, {}, {"mode": "Local", "source": "Default"}, None),
        ("sizes alone set no mode", {"spark": {"executor": {"instances": 8}}}, {}, {"mode": "Local", "source": "Default"}, None),
        ("the catalog's mode, the operator's sizes", {"spark": {"mode": "Cluster"}}, {}, {"mode": "Cluster", "source": "Catalog"}, {"instances": 2, "cores": 1, "memory": "2Gi", "scratch": "10Gi", "source": "Default"}),
        ("the table's mode, the catalog's sizes", {"spark": {"mode": "Local", "executor": {"instances": 8}}}, {"spark": {"mode": "Auto"}}, {"mode": "Auto", "source": "Table"}, {"instances": 8, "cores": 1, "memory": "2Gi", "scratch": "10Gi", "source": "Catalog"}),
        ("the catalog's mode, the table's sizes whole", {"spark": {"mode": "Auto", "executor": {"instances": 8, "cores": 4}}}, {"spark": {"executor": {"memory": "4Gi"}}}, {"mode": "Auto", "source": "Catalog"}, {"instances": 2, "cores": 1, "memory": "4Gi", "scratch": "10Gi", "source": "Table"}),
        ("the table opts out", {"spark": {"mode": "Cluster"}}, {"spark": {"mode": "Local"}}, {"mode": "Local", "source": "Table"}, None),
    ],
)  # fmt: skip
def test_the_effective_mode_and_executors(
    sentence: str, catalog: dict[str, Any], spec: dict[str, Any], mode: dict[str, Any], executor: dict[str, Any] | None
) -> None:
    found = effective(catalog, **spec).to_json()
    assert (found["mode"], found.get("executor")) == (mode, executor), sentence


def test_the_tables_run_policy_replaces_the_catalogs_and_the_operator_adds_defaults() -> None:
    catalog = defaults(runPolicy={"backoffLimit": 9, "activeDeadline": "2h"})
    found = effective(catalog, runPolicy={"backoffLimit": 0}).to_json()["runPolicy"]
    assert found == {
        "activeDeadline": "1h",
        "backoffLimit": 0,
        "successfulRunsHistoryLimit": 3,
        "failedRunsHistoryLimit": 5,
        "source": "Table",
    }


@pytest.mark.parametrize(
    ("catalog", "table", "expected"),
    [(None, None, "UTC"), ("Europe/Berlin", None, "Europe/Berlin"), ("Europe/Berlin", "Asia/Tokyo", "Asia/Tokyo")],
)
def test_the_effective_time_zone(catalog: str | None, table: str | None, expected: str) -> None:
    assert effective({"timeZone": catalog} if catalog else {}, timeZone=table).time_zone == expected
