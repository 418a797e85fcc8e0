"""On a real API server: whatever the watches do and wherever the operator is killed, the tables end as without that.

The seeds are committed. `make test` plays one plan, `make test-long` thirty of each workload, so 210: each has stale
watches and kills. `make properties` plays as many in memory (tests/runtime/test_stale_watches.py), with kills and
without.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Final

import pytest

from tests.apiserver.stale_world import stale_world
from tests.cluster.apiserver import ApiServer
from tests.runtime.test_stale_watches import WORKLOADS

AT_ONCE: Final = 4
"""Plans that are played at the same time, each in its namespace by its own operator: they wait most of their time."""


def play(
    server: ApiServer, workload: str, name: str, logs: Path, seed: int | None
) -> tuple[list[tuple[object, ...]], dict[str, int], Sequence[str]]:
    """Plays a workload, without disturbances where `seed` is None. Returns state, runs and violations."""
    acts, wanted = WORKLOADS[workload]
    watches, kills = (None, None) if seed is None else (random.Random(f"{workload}{seed}"), random.Random(seed))  # noqa: S311
    logs.mkdir()
    namespace = f"stale-{workload}-{name}".replace(" ", "-")
    with stale_world(server, namespace, watches, logs) as world:
        world.run(acts, kills)
        return world.settle(wanted), dict(Counter(world.performed)), world.violations


def compare(server: ApiServer, workload: str, logs: Path, seeds: Sequence[int]) -> None:
    """Plays a workload without disturbances, and with those of each seed: the end is the same."""
    undisturbed, runs, violations = play(server, workload, "calm", logs / "calm", None)
    assert (runs, violations) == (WORKLOADS[workload][1], [])

    def replay(seed: int) -> None:
        try:
            found = play(server, workload, str(seed), logs / str(seed), seed)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
        assert found == (undisturbed, runs, []), f"seed {seed}"

    pool = ThreadPoolExecutor(AT_ONCE)
    try:
        for played in as_completed([pool.submit(replay, seed) for seed in seeds]):
            played.result()
    finally:
        pool.shutdown(cancel_futures=True)


def test_an_edited_table_ends_as_without_disturbances_by_the_same_runs(api_server: ApiServer, tmp_path: Path) -> None:
    compare(api_server, "edit", tmp_path, [0])


@pytest.mark.long
@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_table_ends_as_without_disturbances_by_the_same_runs(
    api_server: ApiServer, workload: str, tmp_path: Path
) -> None:
    compare(api_server, workload, tmp_path, range(1, 31))
