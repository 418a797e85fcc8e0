"""Runs that only read: they start where commits are unsafe, for example to adopt the tables of a lake with writers."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from tests.support import builders
from tests.support.table_world import TableWorld

WRITTEN_BY_OTHERS: dict[str, Any] = {"externalWriters": "Active", "bucket": {"type": "Fixed", "fixed": {"count": 2}}}


def unsafe() -> TableWorld:
    """A Ready table on storage on which commits of others can be lost, with such others."""
    seen = TableWorld(table=builders.table(**WRITTEN_BY_OTHERS))
    seen.catalog = builders.catalog(commitPolicy="AllowUnsafe")
    seen.ready()
    seen.catalog = builders.catalog()
    seen.created.clear()
    return seen


def asked_for(seen: TableWorld, type_: str) -> str | None:
    """The run that is active after a user has asked for one of this type."""
    seen.runs.append(builders.run("asked", table=seen.table, type=type_))
    seen.settle()
    return seen.table.status.active_run.name if seen.table.status.active_run else None


@pytest.mark.parametrize("type_", ["Observe", "Describe", "MarkPartitionsDone"])
def test_a_user_may_read_where_commits_are_unsafe(type_: str) -> None:
    seen = unsafe()
    assert asked_for(seen, type_) == "asked"
    assert seen.says("CommitSafe") == ("False", Reason.COMMIT_UNSAFE)


@pytest.mark.parametrize("type_", ["Compact", "ExpireSnapshots"])
def test_what_commits_does_not_start_there(type_: str) -> None:
    seen = unsafe()
    assert asked_for(seen, type_) is None
