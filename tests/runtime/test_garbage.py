"""Full garbage collections come at set times alone. Each test has a process of its own, whose heap it may fill."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

GROWS = """
    import asyncio, gc

    from paimon_operator.runtime.garbage import PERIOD_S, collect_at_set_times

    class Table:
        pass

    def full() -> int:
        return gc.get_stats()[2]["collections"]

    def create(number: int) -> list[Table]:
        return [Table() for _ in range(number)]

    def end_in_a_cycle() -> None:
        ended = Table()
        ended.itself = ended

    ticks = asyncio.Queue()

    async def sleep(seconds: float) -> None:
        assert seconds == PERIOD_S
        await ticks.get()

    async def tick() -> None:
        ticks.put_nowait(None)
        for _ in range(3):
            await asyncio.sleep(0)

    def count() -> int:
        return sum(type(each) is Table for each in gc.get_objects())

"""


def _python(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", dedent(GROWS) + dedent(program)], check=True, text=True, stdout=subprocess.PIPE
    )
    return done.stdout.strip()


def test_a_growing_heap_alone_causes_no_full_collection() -> None:
    assert int(_python("before, kept = full(), create(300_000); print(full() - before)")) > 0, (
        "Python makes them itself"
    )
    grown = """
        async def main() -> None:
            collecting = asyncio.create_task(collect_at_set_times(sleep))
            await asyncio.sleep(0)
            before, kept = full(), create(300_000)
            print(full() - before)
            collecting.cancel()

        asyncio.run(main())
    """
    assert _python(grown) == "0"


def test_what_is_in_cycles_is_freed_once_in_each_period() -> None:
    freed = """
        async def main() -> None:
            collecting = asyncio.create_task(collect_at_set_times(sleep))
            await asyncio.sleep(0)
            for _ in range(2):
                end_in_a_cycle()
                gc.collect(1)  # it has survived the younger generations before
                kept = [Table()]
                await tick()
                print(count())
            collecting.cancel()

        asyncio.run(main())
    """
    assert _python(freed).split() == ["1", "1"]
