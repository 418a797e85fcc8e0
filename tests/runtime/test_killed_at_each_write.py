"""Wherever the operator is killed, each workload ends as without that, by the same runs.

A kill after a write leaves what a kill before the next one leaves. `make test` kills at every fifth write of a
workload, `make properties` at each.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from tests.runtime.stale_watches import Act, World
from tests.runtime.test_stale_watches import WORKLOADS, types
from tests.support.random_examples import examples


class KilledWorld(World):
    """A world without disturbances whose operator is killed before one of its writes, counted from 0."""

    kills_to_the_end = True

    def __init__(self, acts: Sequence[tuple[int, Act]], write: int) -> None:
        super().__init__(acts, None)
        self.kills = True
        self.store.kill_at(write, carried_out=False)
        self.was_killed = False

    async def _settle(self) -> None:
        killed = self.operator
        await super()._settle()
        self.was_killed |= self.operator is not killed
        self.kills &= not self.was_killed


@pytest.mark.worlds
@pytest.mark.every_write
@pytest.mark.parametrize("workload", WORKLOADS)
async def test_after_a_kill_at_any_write_a_table_ends_by_the_same_runs(workload: str) -> None:
    acts, wanted = WORKLOADS[workload]
    whole = await World(acts, None).run()
    writes = [(request.verb, request.kind) for request in whole.store.writes]
    assert types(whole) == wanted
    assert len(writes) > 15
    first = random.Random(workload).randrange(5)  # noqa: S311
    for number in range(len(writes)) if examples(1) > 1 else range(first, len(writes), 5):
        world, point = await KilledWorld(acts, number).run(), f"write {number} {writes[number]}"
        assert world.was_killed, point
        assert world.store.violations == [], point
        assert world.state() == whole.state(), point
        assert types(world) == wanted, point
