"""Full garbage collections come at set times alone. Each test has a process of its own, whose heap it may fill."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from textwrap import dedent, indent

import pytest
from kubernetes.aio.client import ApiClient

from paimon_operator import app
from paimon_operator.runtime.garbage import GROWTH_MIB, LOOK_S, PERIOD_S, resident_mib
from paimon_operator.settings import Settings

HEAP = """
    import asyncio, gc

    from paimon_operator.runtime.garbage import collect_at_set_times

    class Table:
        pass

    def full() -> int:
        return gc.get_stats()[2]["collections"]

    def create(number: int) -> list[Table]:
        return [Table() for _ in range(number)]

    def tables() -> int:
        return sum(type(each) is Table for each in gc.get_objects())

    def end_in_an_old_cycle() -> None:
        ended = Table()
        ended.itself = ended
        gc.collect(1)

    mib, slept, looks = [100.0], [], asyncio.Queue()

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await looks.get()

    async def look(times: int = 1) -> None:
        for _ in range(times):
            looks.put_nowait(None)
            await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def watched(test) -> None:
        collecting = asyncio.create_task(collect_at_set_times(lambda: mib[0], sleep))
        await asyncio.sleep(0)
        await test()
        assert not collecting.done()
        collecting.cancel()
        await asyncio.wait({collecting})

"""


def _python(program: str) -> list[float]:
    """The numbers that a program prints."""
    command = [sys.executable, "-c", dedent(HEAP) + dedent(program)]
    return [float(each) for each in subprocess.check_output(command, text=True).split()]


def _watched(body: str) -> list[float]:
    """The numbers that the body of a coroutine prints while full collections come at set times."""
    return _python(f"async def test():\n{indent(dedent(body), '    ')}\nasyncio.run(watched(test))")


def test_a_growing_heap_alone_causes_no_full_collection() -> None:
    grown = "before, kept = full(), create(300_000); print(full() - before)"
    assert _python(grown) > [0], "Python makes them by its own rule"
    assert _watched(grown) == [0]


def test_old_cycles_are_freed_once_in_each_period() -> None:
    freed = """
        for _ in range(2):
            end_in_an_old_cycle()
            gc.collect(1)
            await look(29)
            print(tables())
            await look()
            print(tables())
        print(sum(slept[:30]))
    """
    assert _watched(freed) == [1, 0, 1, 0, PERIOD_S]


@pytest.mark.parametrize(
    ("mib", "left"),
    [
        ([100, 100 + GROWTH_MIB - 1], 1),
        ([100, 100 + GROWTH_MIB], 0),
        ([100 - GROWTH_MIB / 2, 100 + GROWTH_MIB / 2], 0),
    ],
    ids=["less", "as much", "after it had shrunk"],
)
def test_old_cycles_are_freed_at_once_when_the_memory_has_grown_by_much(mib: list[float], left: int) -> None:
    freed = f"""
        end_in_an_old_cycle()
        for mib[0] in {mib}:
            await look()
        print(tables(), slept[0])
    """
    assert _watched(freed) == [left, LOOK_S]


def test_python_collects_by_its_own_rule_again_once_the_set_times_end() -> None:
    ended = """
        usual = gc.get_threshold()

        async def test():
            print(int(gc.get_threshold() == usual))

        asyncio.run(watched(test))
        print(int(gc.get_threshold() == usual))
    """
    assert _python(ended) == [0, 1]


def test_the_memory_is_that_of_this_process() -> None:
    kernels = Path("/proc/self/status").read_text(encoding="utf-8").partition("VmRSS:")[2].split()[0]
    assert resident_mib() == pytest.approx(int(kernels) / 1024, rel=0.1)


async def test_a_process_collects_at_set_times_also_before_it_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    collecting, ended = asyncio.Event(), asyncio.Event()

    async def collect() -> None:
        collecting.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    monkeypatch.setattr(app, "collect_at_set_times", collect)
    client = ApiClient()
    operator = app.Operator(Settings(lease_namespace="system", health_port=0, metrics_port=0), client)
    monkeypatch.setattr(operator._lease, "acquire", asyncio.Event().wait)
    running = asyncio.create_task(operator.run())
    await collecting.wait()
    operator._stop.set()
    assert await running == 0
    await ended.wait()
    await client.close()  # type: ignore[no-untyped-call]
