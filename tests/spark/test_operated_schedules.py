"""Random schedules through the whole operator: others write, drivers and operators die, and no row or file is lost.

`SCHEDULE_SEED=7 pytest tests/spark/test_operated_schedules.py` plays one schedule again.
"""

from __future__ import annotations

import dataclasses
import os
from typing import Final

import pytest

from paimon_engines.loader import supported_engines
from tests.spark.lake import Lake
from tests.spark.operated_player import OperatedPlayer, played
from tests.support.schedules.operated_schedule import operated_schedule

PER_CASE: Final = 4
PER_ENGINE: Final = 32
"""Each engine has other ones: 64 together."""
OWN_SEED: Final = os.environ.get("SCHEDULE_SEED")


def play(lake: Lake, seed: int) -> OperatedPlayer:
    """Plays the schedule of this seed in a directory of its own."""
    directory = lake.directory / f"seed-{seed}"
    directory.mkdir()
    return played(OperatedPlayer(dataclasses.replace(lake, directory=directory), operated_schedule(seed)))


@pytest.mark.engines_in_turn("seed")
@pytest.mark.parametrize("seed", range(3) if OWN_SEED is None else [int(OWN_SEED)])
def test_a_schedule_through_the_operator_leaves_exactly_what_it_must(lake: Lake, seed: int) -> None:
    assert play(lake, seed).performed


@pytest.mark.long
@pytest.mark.parametrize("case", range(PER_ENGINE // PER_CASE))
def test_sixty_schedules_through_the_operator(lake: Lake, case: int) -> None:
    first = PER_ENGINE * [*supported_engines()].index(lake.engine.id) + PER_CASE * case
    for seed in range(first, first + PER_CASE):
        play(lake, seed)
