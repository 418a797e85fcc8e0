"""Every file of a growing folder is loaded exactly once, whatever is killed."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.e2e.soak import LATEST_S, ROWS_PER_FILE, Event, Soak, script


# Twenty ticks with their kills, and fifteen minutes of quiet at most.
@pytest.mark.timeout(3000)
@pytest.mark.long
@pytest.mark.own_node
@pytest.mark.parametrize(
    ("ticks", "operators", "drivers"), [pytest.param(4, 1, 1, id="four", marks=pytest.mark.soak), (20, 5, 3)]
)
def test_ticks_with_random_kills_load_every_row_once(soak: Soak, ticks: int, operators: int, drivers: int) -> None:
    soak.run(ticks)

    assert soak.operator_kills >= operators, f"seed {soak.seed}: too few kills to prove anything"
    assert soak.driver_kills >= drivers, f"seed {soak.seed}: too few kills to prove anything"
    assert soak.outages == 1, f"seed {soak.seed}: no driver met the storage's outage"
    rows = list(range(ticks * ROWS_PER_FILE))
    assert sorted(row["id"] for row in soak.lab.rows("soak")) == rows, f"seed {soak.seed}"


@pytest.mark.parametrize("ticks", [4, 20])
def test_every_seed_kills_operator_and_driver_and_has_one_outage(ticks: int) -> None:
    for seed in range(200):
        ticked = script(seed, ticks)
        counts = Counter(event for tick in ticked for _, event in tick)
        kills = 2 * (ticks - 1)
        assert counts == {
            Event.OUTAGE: 1,
            Event.KILL_OPERATOR: -(-2 * kills // 5),
            Event.KILL_DRIVER: kills - -(-2 * kills // 5),
        }
        assert len(ticked) == ticks
        outage = next(n for n, tick in enumerate(ticked) if tick[0][1] is Event.OUTAGE)
        assert ticks // 3 <= outage < ticks - ticks // 3
        moments = [[moment for moment, _ in tick] for tick in ticked]
        assert all(tick == sorted(tick) and 0 <= tick[0] <= tick[-1] <= LATEST_S for tick in moments)
        assert script(seed, ticks) == ticked, "a seed repeats it"
