"""Ten tables of the simulated day on real Spark, with the writes and the decisions of its first hours.

The simulation itself is tests/benchmarks/test_maintenance_day.py.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.spark.lake import Lake
from tests.spark.played_day import PlayedTable, sample
from tools.benchmarks.maintenance_day.fleet import INTERVAL, MIDNIGHT

SEED, LENGTH, MOST_WRITES = 1, timedelta(hours=4), 60
TABLES = {table.name: table for table in sample(10, SEED, LENGTH, MOST_WRITES)}


@pytest.mark.long
@pytest.mark.engines_in_turn("name")
@pytest.mark.parametrize("name", TABLES)
def test_a_table_stays_below_its_threshold_and_one_interval_and_keeps_its_rows(name: str, lake: Lake) -> None:
    played = PlayedTable(lake, TABLES[name])
    started = played.play(MIDNIGHT + LENGTH)
    assert played.rows() == played.expected_rows()
    assert played.worst <= played.table.threshold + played.table.growth
    assert started[0] == "Provision"
    assert set(started[1:]) <= {"Compact"}
    assert played.no_ops == []
    assert len(started) - 1 < LENGTH / INTERVAL, "as many as there are ticks is what fixed cron starts"
