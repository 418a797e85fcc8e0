"""An expiry that was decided and did not start yet is given up when the manifest asks for another one."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.core.operations.operation import OperationSpec
from paimon_operator.core.operations.registry import OPERATIONS
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.validation.blocks import with_valid_blocks
from tests.support import builders

SCHEMA: dict[str, Any] = {
    "columns": [{"name": "id", "type": "BIGINT"}, {"name": "dt", "type": "STRING"}],
    "partitionKeys": ["dt"],
}
HOURLY = {"schedule": "5 * * * *"}
BLOCKS: dict[str, dict[str, Any]] = {
    "ExpireSnapshots": {"snapshots": {"timeRetained": "1d", **HOURLY}},
    "ExpirePartitions": {"partitions": {"expirationTime": "30d", **HOURLY}},
    "RemoveOrphanFiles": {"orphanFiles": {"olderThan": "5d", **HOURLY}},
}


def context(retention: dict[str, Any] | None, **spec: Any) -> TableContext:
    """The table, whose blocks with an error are marked."""
    table = builders.table(schema=SCHEMA, retention=retention, **spec)
    built, _ = with_valid_blocks(builders.context(table), builders.operator_facts())
    return built


def decided(operation: OperationSpec, retention: dict[str, Any]) -> str:
    """The hash of the run that is due."""
    assert operation.scheduled is not None
    before = context(retention)
    work = next(operation.scheduled.due(before, before.table.status))
    assert work.spec_hash is not None
    return work.spec_hash


@pytest.mark.parametrize("type_", list(BLOCKS))
@pytest.mark.parametrize(
    ("sentence", "edit", "spec", "is_asked"),
    [
        ("nothing was edited", {}, {}, True),
        ("another time to keep", {"timeRetained": "2d", "expirationTime": "60d", "olderThan": "6d"}, {}, False),
        ("another schedule", {"schedule": "6 * * * *"}, {}, True),
        ("another time zone, in which a day begins at another moment", {}, {"timeZone": "Asia/Kolkata"}, False),
        ("a block with an error, which the job reports", {"schedule": "61 * * * *"}, {}, True),
    ],
)
def test_an_expiry_is_given_up_when_what_it_removes_was_edited(
    type_: str, sentence: str, edit: dict[str, Any], spec: dict[str, Any], *, is_asked: bool
) -> None:
    operation, retention = OPERATIONS.of(type_), BLOCKS[type_]
    member, block = next(iter(retention.items()))
    edited = {member: {key: edit.get(key, value) for key, value in {**block, **HOURLY}.items()}}
    now = context(edited, **spec)
    run = builders.run("expire", table=now.table, type=type_, compact=None)
    assert operation.is_still_asked_for(now, run, decided(operation, retention)) is is_asked, sentence


@pytest.mark.parametrize("type_", list(BLOCKS))
def test_an_expiry_is_given_up_when_its_block_was_removed(type_: str) -> None:
    operation, now = OPERATIONS.of(type_), context(None)
    run = builders.run("expire", table=now.table, type=type_, compact=None)
    assert not operation.is_still_asked_for(now, run, decided(operation, BLOCKS[type_]))
