"""What a driver reports without a JVM where no partition is due or to be marked, or no snapshot is due."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

from paimon_contract.documents import to_json
from paimon_engines.loader import load_engine
from spark_apps.driver.dispatch import read_job
from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.volume import VolumeFiles
from spark_apps.operations import expire_partitions, expire_snapshots, mark_partitions_done


def without_a_due_partition(job: dict[str, Any], engine: str, *, now: int | None = None) -> dict[str, Any] | None:
    """The partitions of the result; None where a JVM is needed. `now` in ms."""
    at = expire_partitions.now() if now is None else now
    with patch.object(expire_partitions, "now", return_value=at):
        found = expire_partitions.without_jvm(read_job(json.dumps(job)), load_engine(engine), VolumeFiles())
    return None if found is None else to_json(found.partitions)


def without_a_partition_to_mark(job: dict[str, Any], engine: str, *, now: int | None = None) -> dict[str, Any] | None:
    """The partitions of the result; None where a JVM is needed. `now` in ms."""
    at = mark_partitions_done.now() if now is None else now
    with patch.object(mark_partitions_done, "now", return_value=at):
        found = mark_partitions_done.without_jvm(read_job(json.dumps(job)), load_engine(engine), VolumeFiles())
    return None if found is None else to_json(found.partitions_done)


def without_a_due_snapshot(job: dict[str, Any], engine: str) -> dict[str, Any] | None:
    """The result; None where a JVM is needed."""
    try:
        found = expire_snapshots.without_jvm(read_job(json.dumps(job)), load_engine(engine), VolumeFiles())
    except UnreadableError:
        return None
    return None if found is None else to_json(found)
