"""Whatever the watches do, and wherever the operator is killed, runs that share Pods are performed as without that."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest

from paimon_operator.core.ports import Kind
from tests.runtime.operator_in_memory import SHOP, lake, shop
from tests.runtime.shared_driver import FACTS, SharedDriver, shared_pods
from tests.runtime.stale_watches import Act, World
from tests.support import end_state, pods
from tests.support.manifests import keyed_table
from tests.support.random_examples import examples

SEEDS = range(examples(4, most=50))
NOTE = {"name": "note", "type": "STRING"}
NAMES = ("a", "b", "c")


def put(name: str, **edits: object) -> Act:
    """Creates or edits a table without writes."""
    return lambda store: store.put(shop(keyed_table(metadata__name=name, spec__writes=[], **edits)))


MADE: list[tuple[int, Act]] = [(0, lambda store: store.put(lake())), *((0, put(name)) for name in NAMES)]
WIDENED = [(at, put(name, spec__schema__columns__6=NOTE)) for at, name in ((10, "a"), (10, "b"), (13, "c"))]
ACTS = [*MADE, *WIDENED]


class SharedWorld(World):
    """A world whose runs share Pods. Each of their drivers has one turn in a round."""

    sharing = FACTS

    def __init__(self, acts: Sequence[tuple[int, Act]], dice: random.Random | None, *, kills: bool = False) -> None:
        super().__init__(acts, dice, kills=kills)
        self.drivers: dict[str, SharedDriver] = {}
        self.shared: list[str] = []
        """Name of each run that was performed in a shared Pod."""
        self.store.busy = self._busy

    async def drive(self) -> None:
        await super().drive()
        for name in shared_pods(self.operator):
            body = self.store.peek(Kind.POD, SHOP, name) or {}
            if body["metadata"].get("deletionTimestamp"):
                self.store.set_status(Kind.POD, SHOP, name, pods.ended(143, finished=self.time.now()))
                continue
            if name not in self.drivers:
                self.drivers[name] = await SharedDriver.start(self.operator, name)
            self.drivers[name].operator = self.operator
            await self._turn(self.drivers[name])

    def pods_left(self) -> list[end_state.Left]:
        """Those that were not released: it depends on the watches which runs have shared one."""
        return end_state.of_pods(pod for pod in self._pods() if pod["metadata"].get("finalizers"))

    def _busy(self) -> set[str]:
        """Tables with a turn in progress: it was performed, and its driver, which lives, has not reported that."""
        return set().union(*(self._at_work(name) for name in shared_pods(self.operator)))

    def _at_work(self, pod: str) -> set[str]:
        driver = self.drivers.get(pod)
        return set() if driver is None or driver.unreported is None else {driver.performed[-1]}

    async def _turn(self, driver: SharedDriver) -> None:
        """One turn. An operator that is killed or decides nothing is asked again in the next round."""
        done, asked = len(driver.performed), driver.left[:1]
        others = (self._at_work(name) for name in shared_pods(self.operator) if name != driver.pod.name)
        busy = set[str]().union(*others)
        try:
            await (driver.turn() if driver.left else driver.ask())
        except TimeoutError:
            return
        self.store.violations += [f"two turns of {name}" for name in busy & set(driver.performed[done:])]
        if len(driver.performed) > done:
            self.performed += [(self._type(run), run) for run in asked]
            self.shared += asked
        if not driver.left and driver.unreported is None:
            await driver.end()

    def _type(self, run: str) -> str:
        return str((self.store.peek(Kind.RUN, SHOP, run) or {})["spec"]["type"])


def tables(world: World) -> dict[str, int]:
    """How often the runs of each table were performed, by its name."""
    found = [world.store.peek(Kind.RUN, SHOP, name) or {} for _, name in world.performed]
    return dict(Counter(str(run["spec"]["tableRef"]["name"]) for run in found))


async def test_without_disturbances_runs_that_begin_together_share_pods() -> None:
    world = await SharedWorld(ACTS, None).run()
    assert tables(world) == dict.fromkeys(NAMES, 2)
    assert len(world.shared) == 5, "all but the second one of c, which begins alone"
    assert world.active_runs() == []


@pytest.mark.worlds
@pytest.mark.parametrize("kills", [False, True], ids=["stale", "stale and killed"])
async def test_tables_end_as_without_disturbances_by_the_same_runs(kills: bool) -> None:
    undisturbed = await SharedWorld(ACTS, None).run()
    shared = 0
    for seed in SEEDS:
        world = await SharedWorld(ACTS, random.Random(f"shared{seed}{kills}"), kills=kills).run()  # noqa: S311
        assert world.store.violations == [], seed
        assert tables(world) == tables(undisturbed), seed
        assert world.state() == undisturbed.state(), seed
        shared += len(world.shared)
    assert shared > 2 * len(SEEDS), "disturbances leave most runs with Pods of their own"
