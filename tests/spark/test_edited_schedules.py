"""Random schedules in which the settings of the manifest are edited: no edit that is admitted loses or doubles a row.

`SCHEDULE_SEED=7 pytest tests/spark/test_edited_schedules.py` plays one schedule again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

import pytest

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
