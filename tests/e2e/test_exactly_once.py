"""Every file of a growing folder is loaded exactly once, whoever is killed when."""

from __future__ import annotations

import pytest

from tests.e2e.soak import Soak


# Twenty ticks with their kills, and fifteen minutes of quiet at most.
@pytest.mark.timeout(3000)
def test_twenty_ticks_with_random_kills_load_every_row_once(soak: Soak) -> None:
    soak.run()

    assert soak.operator_kills >= 5, f"seed {soak.seed}: too few kills to prove anything"
    assert soak.driver_kills >= 3, f"seed {soak.seed}: too few kills to prove anything"
    assert soak.outages == 1, f"seed {soak.seed}: no driver met the storage's outage"
    assert sorted(row["id"] for row in soak.lab.rows("soak")) == soak.expected_ids(), f"seed {soak.seed}"
