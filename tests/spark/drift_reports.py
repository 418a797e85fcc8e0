"""What drivers report of changes by others, and what they find of them without a JVM."""

from __future__ import annotations

import json
from typing import Any

from paimon_contract.documents import to_json
from paimon_engines.loader import load_engine
from spark_apps.driver.dispatch import read_job
from spark_apps.metadata.volume import VolumeFiles
from spark_apps.operations.observe import without_jvm
from tests.spark.lake import Lake

Change = tuple[str, str, str | None, str | None]
"""Kind, field, value before and after."""


def compare_with_files(lake: Lake, job: dict[str, Any], result: dict[str, Any]) -> None:
    """In the image Observe ends without a JVM on a volume: what it finds there must be the same as with one."""
    alone = without_jvm(read_job(json.dumps(job)), load_engine(lake.engine.id), VolumeFiles())
    assert alone is not None
    shown = to_json(alone)
    assert shown["drift"] == result["drift"], "the files alone show the same"
    assert shown["table"] | {"measuredAt": ""} == result["table"] | {"measuredAt": ""}


def recorded(result: dict[str, Any]) -> dict[str, Any]:
    """What the operator gives to the next job, from the result of the last one."""
    found = result["drift"]
    return {"schemaId": found["schemaId"], "schemaDigest": found["schemaDigest"], "known": found.get("changes", [])}


def found_by(result: dict[str, Any], part: str = "changes") -> list[Change]:
    """The changes that a driver reports, or those that it has taken back."""
    changes = result["drift"].get(part, [])
    return [(each["change"], each["field"], each.get("before"), each.get("after")) for each in changes]
