"""Every file of a growing folder is loaded exactly once, whatever is killed."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.e2e.soak import LATEST_S, ROWS_PER_FILE, Event, Soak, script

TICKS = 20


# Twenty ticks with their kills, and fifteen minutes of quiet at most.
@pytest.mark.timeout(3000)
@pytest.mark.long
@pytest.mark.own_node
def test_twenty_ticks_with_random_kills_load_every_row_once(soak: Soak) -> None:
    soak.run(TICKS)

    assert soak.operator_kills >= 5, f"seed {soak.seed}: too few kills to prove anything"
    assert soak.driver_kills >= 3, f"seed {soak.seed}: too few kills to prove anything"
    assert soak.outages == 1, f"seed {soak.seed}: no driver met the storage's outage"
    rows = list(range(TICKS * ROWS_PER_FILE))
    assert sorted(row["id"] for row in soak.lab.rows("soak")) == rows, f"seed {soak.seed}"


def test_every_seed_kills_operator_and_driver_and_has_one_outage() -> None:
    for seed in range(200):
        ticked = script(seed, TICKS)
        counts = Counter(event for tick in ticked for _, event in tick)
        kills = 2 * (TICKS - 1)
        assert counts == {
            Event.OUTAGE: 1,
            Event.KILL_OPERATOR: -(-2 * kills // 5),
            Event.KILL_DRIVER: kills - -(-2 * kills // 5),
        }
        assert len(ticked) == TICKS
        outage = next(n for n, tick in enumerate(ticked) if tick[0][1] is Event.OUTAGE)
        assert TICKS // 3 <= outage < TICKS - TICKS // 3
        moments = [[moment for moment, _ in tick] for tick in ticked]
        assert all(tick == sorted(tick) and 0 <= tick[0] <= tick[-1] <= LATEST_S for tick in moments)
        assert script(seed, TICKS) == ticked, "a seed repeats it"
