"""Ten tables of the simulated day on real Spark, with the writes and the decisions of its first hours.

The simulation itself is tests/benchmarks/test_maintenance_day.py.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.spark.lake import Lake
from tests.spark.played_day import PlayedTable, sample
from tools.benchmarks.maintenance_day.checkout import stamp_of_checkout
from tools.benchmarks.maintenance_day.fleet import INTERVAL, MIDNIGHT
from tools.benchmarks.maintenance_day.played import TABLES as TABLES_PLAYED
from tools.benchmarks.maintenance_day.played import Played, keep

STAMP = stamp_of_checkout()
SEED, LENGTH, MOST_WRITES = 1, timedelta(hours=4), 60
TABLES = {table.name: table for table in sample(TABLES_PLAYED, SEED, LENGTH, MOST_WRITES)}


@pytest.mark.long
@pytest.mark.engines_in_turn("name")
@pytest.mark.parametrize("name", TABLES)
def test_a_table_stays_below_its_threshold_and_one_interval_and_keeps_its_rows(name: str, lake: Lake) -> None:
    played = PlayedTable(lake, TABLES[name])
    started = played.play(MIDNIGHT + LENGTH)
    assert played.rows() == played.expected_rows()
    bound, ticks = played.table.threshold + played.table.growth, int(LENGTH / INTERVAL)
    assert played.worst <= bound
    assert started[0] == "Provision"
    assert set(started[1:]) <= {"Compact"}
    assert played.no_ops == []
    assert len(started) - 1 < ticks, "as many as there are ticks is what fixed cron starts"
    keep(
        Played(
            **STAMP,
            table=name,
            engine=lake.engine.id,
            seed=SEED,
            hours=int(LENGTH / timedelta(hours=1)),
            writes=len(played.table.writes),
            ticks=ticks,
            runs=len(started) - 1,
            no_ops=len(played.no_ops),
            worst=played.worst,
            bound=bound,
        )
    )
