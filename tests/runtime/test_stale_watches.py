"""Whatever the watches do, and wherever the operator is killed, the tables end as without that, by the same runs.

There are seven workloads. The seeds are committed: a plan that failed is repeated by its number.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest

from paimon_operator.core.ports import Kind
from tests.runtime.operator_in_memory import SHOP, lake, orders, shop
from tests.runtime.stale_watches import Act, World
from tests.support.manifests import once, run
from tests.support.random_examples import examples

SEEDS = range(examples(4, most=30))
"""Plans of each workload: with `make properties` 210 without kills and 210 with kills."""
COLUMN = {"name": "note", "type": "STRING"}
AGAIN = orders(metadata__name="orders-again", spec__table="orders", spec__adoptionPolicy="Adopt")
MADE: list[tuple[int, Act]] = [(0, lambda store: store.put(lake())), (0, lambda store: store.put(orders()))]


def put(**edits: object) -> Act:
    return lambda store: store.put(orders(**edits))


def gone(name: str) -> Act:
    return lambda store: store.delete_as_user(Kind.TABLE, SHOP, name)


WORKLOADS: dict[str, tuple[Sequence[tuple[int, Act]], dict[str, int]]] = {
    "create": (MADE, {"Provision": 1}),
    "write": ([MADE[0], (0, put(spec__writes=[once()]))], {"Provision": 1, "Write": 1}),
    "compact": ([*MADE, (4, lambda store: store.put(shop(run())))], {"Provision": 1, "Compact": 1}),
    "edit": ([*MADE, (8, put(spec__schema__columns__6=COLUMN))], {"Provision": 2}),
    "delete": (
        [MADE[0], (0, put(spec__deletionPolicy="Delete")), (8, gone("orders"))],
        {"Provision": 1, "Drop": 1},
    ),
    "catalog edit": (
        [*MADE, (2, lambda store: store.put(lake(spec__spark={"sparkConf": {"spark.sql.shuffle.partitions": "3"}})))],
        {"Provision": 1},
    ),
    "two objects": ([*MADE, (6, lambda store: store.put(AGAIN)), (12, gone("orders"))], {"Provision": 2}),
}


def types(world: World) -> dict[str, int]:
    return dict(Counter(type_ for type_, _ in world.performed))


@pytest.mark.parametrize("workload", WORKLOADS)
async def test_without_disturbances_a_workload_takes_its_runs(workload: str) -> None:
    acts, wanted = WORKLOADS[workload]
    world = await World(acts, None).run()
    assert world.store.violations == []
    assert types(world) == wanted
    assert world.active_runs() == []


@pytest.mark.worlds
@pytest.mark.parametrize("kills", [False, True], ids=["stale", "stale and killed"])
@pytest.mark.parametrize("workload", WORKLOADS)
async def test_a_table_ends_as_without_disturbances_by_the_same_runs(workload: str, kills: bool) -> None:
    acts, _ = WORKLOADS[workload]
    undisturbed = await World(acts, None).run()
    for seed in SEEDS:
        world = await World(acts, random.Random(f"{workload}{seed}{kills}"), kills=kills).run()  # noqa: S311
        assert world.store.violations == [], seed
        assert world.state() == undisturbed.state(), seed
        assert types(world) == types(undisturbed), seed
