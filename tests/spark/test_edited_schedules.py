"""Random schedules in which the settings of the manifest are edited: no edit that is admitted loses or doubles a row.

`SCHEDULE_SEED=7 pytest tests/spark/test_edited_schedules.py` plays one schedule again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

import pytest

from paimon_engines.loader import load_engine
from tests.spark.edited_player import EditedPlayer
from tests.spark.lake import Lake
from tests.spark.test_schedules import played
from tests.support.schedules.edited_schedule import edited_schedule

PER_CASE: Final = 10
PER_ENGINE: Final = 200
OWN_SEED: Final = os.environ.get("SCHEDULE_SEED")


def play_all(lake: Lake, seeds: Iterable[int]) -> list[EditedPlayer]:
    return played(lake, map(edited_schedule, seeds), EditedPlayer)


def test_edited_tables_have_exactly_the_rows_and_files_that_they_must(lake: Lake) -> None:
    players = play_all(lake, range(4) if OWN_SEED is None else [int(OWN_SEED)])
    assert OWN_SEED or sum(len(each.applied) for each in players) > 5


@pytest.mark.long
@pytest.mark.parametrize("case", range(PER_ENGINE // PER_CASE))
def test_hundreds_of_edited_schedules(lake: Lake, case: int) -> None:
    players = play_all(lake, range(PER_CASE * case, PER_CASE * (case + 1)))
    assert sum(len(each.applied) for each in players) > 2 * PER_CASE


EDITS: Final[list[dict[str, str]]] = [
    {},
    {"dynamic-bucket.target-row-num": "3"},
    {"dynamic-bucket.target-row-num": "3", "dynamic-bucket.assigner-parallelism": "3"},
    {"dynamic-bucket.target-row-num": "2", "dynamic-bucket.initial-buckets": "2"},
    {"dynamic-bucket.max-buckets": "2", "dynamic-bucket.assigner-parallelism": "1"},
    {"dynamic-bucket.target-row-num": "1000", "dynamic-bucket.initial-buckets": "5"},
]
"""Options of each step. An engine that has not one of them leaves it out."""


def test_a_key_stays_in_its_bucket_whatever_the_options_of_dynamic_buckets_become(lake: Lake) -> None:
    """The schedules choose buckets themselves. Spark's writers follow the options."""
    columns, keys, known = {"id": "BIGINT", "v": "INT"}, range(20), load_engine(lake.engine.id).options
    for number, edit in enumerate(EDITS):
        options = {"bucket": "-1"} | {key: value for key, value in edit.items() if key in known}
        lake.provision(columns, keys=["id"], options=options).ok()
        lake.land(f"orders/{number}.csv", "id,v\n" + "".join(f"{id_},{number}\n" for id_ in keys))
        lake.write().ok()
    assert [(row["id"], row["v"]) for row in lake.rows()] == [(id_, len(EDITS) - 1) for id_ in keys]
    assert len({row["bucket"] for row in lake.read("orders$files")}) > 1
