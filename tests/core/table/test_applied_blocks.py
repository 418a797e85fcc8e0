"""Blocks without a schedule of their own: the status names the schedule whose runs apply them."""

from __future__ import annotations

from typing import Any, Final

from paimon_operator.api.retention import Retention
from paimon_operator.api.table.spec import PaimonTableSpec
from paimon_operator.api.table.status import TableStatus
from tests.support import builders
from tests.support.table_world import TableWorld

HOURLY: Final = {"schedule": "10 * * * *"}
EVERYTHING: Final[dict[str, Any]] = {
    "schema": {
        "columns": [*builders.ORDERS["columns"], {"name": "day", "type": "DATE"}, {"name": "at", "type": "BIGINT"}],
        "primaryKeys": ["order_id", "day"],
        "partitionKeys": ["day"],
    },
    "changelogProducer": {"type": "Lookup"},
    "compaction": {"mode": "Dedicated", "minor": HOURLY, "full": HOURLY},
    "tags": {"automaticCreation": "ProcessTime"},
    "retention": {
        "snapshots": {"timeRetained": "1h", **HOURLY},
        "changelogs": {"timeRetained": "3d"},
        "consumers": {"expirationTime": "7d"},
        "partitions": {"expirationTime": "90d", **HOURLY},
        "records": {"expireTime": "90d", "timeField": "at"},
        "orphanFiles": HOURLY,
    },
}
OWN: Final = {
    "snapshots": "retention",
    "partitions": "partition_expiry",
    "orphan_files": "orphan_files",
}
"""Block of retention with a schedule -> field of the status that answers for it."""


def settled(**spec: Any) -> TableStatus:
    seen = TableWorld(table=builders.table(**(EVERYTHING | spec))).ready()
    seen.run_due()
    return seen.table.status


def applied(status: TableStatus) -> dict[str, tuple[str, ...]]:
    """Schedule -> the other blocks that its runs apply, and that it answers for."""
    both = status.compaction
    states = {"retention": status.retention}
    states |= {} if both is None else {"minor": both.minor, "full": both.full}
    found = {}
    for name, state in states.items():
        assert state is None or not state.applies or (state.next is not None and state.decision is not None)
        found[name] = () if state is None else state.applies
    return found


def test_each_block_of_retention_and_the_tags_are_answered_for() -> None:
    """A new block needs a schedule, or a schedule whose runs apply it."""
    status = settled()
    others = {block for each in applied(status).values() for block in each}
    for block, field in Retention.model_fields.items():
        if block in OWN:
            assert getattr(status, OWN[block]).next is not None, block
        else:
            assert f"retention.{field.alias or block}" in others, block
    assert "tags" in others
    assert "tags" in PaimonTableSpec.model_fields


def test_the_expiry_of_snapshots_answers_for_what_its_runs_expire_too() -> None:
    assert applied(settled()) == {
        "retention": ("retention.changelogs", "retention.consumers", "tags"),
        "minor": ("retention.records",),
        "full": ("retention.records",),
    }


def test_what_the_manifest_does_not_have_is_not_applied() -> None:
    found = applied(settled(tags=None, changelogProducer=None, retention={"snapshots": HOURLY}))
    assert found == {"retention": (), "minor": (), "full": ()}


def test_where_writers_compact_no_schedule_of_the_operator_applies_them() -> None:
    seen = TableWorld(table=builders.table(**EVERYTHING)).ready()
    seen.run_due()
    retention = EVERYTHING["retention"] | {"snapshots": {"timeRetained": "1h"}}
    seen.edit(compaction={"mode": "Inline"}, retention=retention)
    seen.settle()
    assert applied(seen.table.status) == {"retention": (), "minor": (), "full": ()}
