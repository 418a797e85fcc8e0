"""Runs on demand that change metadata only: statistics and manifests. No row changes, and both are own commits."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from paimon_engines.loader import load_engine
from tests.spark.lake import Ended, Lake

COLUMNS = {"id": "BIGINT", "v": "INT"}


@pytest.fixture
def loaded(lake: Lake) -> Lake:
    """Three commits, each with a manifest of its own."""
    options = {"bucket": "1", "write-only": "true", "manifest.merge-min-count": "100"}
    lake.provision(COLUMNS, keys=["id"], options=options).ok()
    for number in range(3):
        lake.land(f"orders/{number}.csv", f"id,v\n{number},7\n")
        lake.write(path=f"orders/{number}.csv").ok()
    return lake


def perform(lake: Lake, operation: str, **more: Any) -> Ended:
    """A run with a name as users give it, whose commits later runs know."""
    run = f"mine-{uuid.uuid4()}"
    member = operation[:1].lower() + operation[1:]
    parameters: dict[str, Any] = {member: {}}
    return lake.perform(lake.job(operation, commitUser=run, **parameters, **more))


def can(lake: Lake, operation: str) -> bool:
    """Whether the engine can perform the operation."""
    engine = load_engine(lake.engine.id)
    return engine.names_statistics if operation == "Analyze" else engine.has_argument("compact_manifest", "table")


def last_commit(lake: Lake) -> dict[str, Any]:
    return max(lake.snapshots(), key=lambda each: each["snapshot_id"])


def test_the_statistics_are_a_snapshot_of_the_run(loaded: Lake) -> None:
    if not can(loaded, "Analyze"):
        assert loaded.engine.id in perform(loaded, "Analyze").refused("UnsupportedByEngine")
        assert len(loaded.snapshots()) == 3
        return
    before = loaded.rows()
    done = perform(loaded, "Analyze").ok()
    found = last_commit(loaded)
    assert (found["snapshot_id"], found["commit_kind"]) == (done["table"]["snapshotId"], "ANALYZE") == (4, "ANALYZE")
    assert found["commit_user"].startswith("mine-")
    assert loaded.rows() == before


def test_manifests_are_merged_into_one(loaded: Lake) -> None:
    before = loaded.rows()
    if not can(loaded, "CompactManifests"):
        assert loaded.engine.id in perform(loaded, "CompactManifests").refused("UnsupportedByEngine")
        return
    done = perform(loaded, "CompactManifests").ok()
    assert done["table"]["manifests"] == 1
    found = last_commit(loaded)
    assert (found["commit_kind"], found["commit_user"].startswith("mine-")) == ("COMPACT", True)
    assert loaded.rows() == before
    again = perform(loaded, "CompactManifests").ok()
    assert again["table"]["snapshotId"] == done["table"]["snapshotId"], "there is nothing more to merge"


@pytest.mark.parametrize("operation", ["Analyze", "CompactManifests"])
def test_a_table_without_a_snapshot_gets_none(lake: Lake, operation: str) -> None:
    lake.provision(COLUMNS, keys=["id"], options={"bucket": "1"}).ok()
    done = perform(lake, operation)
    if can(lake, operation):
        assert "snapshotId" not in done.ok()["table"]
    else:
        done.refused("UnsupportedByEngine")
    assert lake.snapshots() == []
