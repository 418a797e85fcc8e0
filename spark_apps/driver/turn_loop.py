"""The turns of one driver: several threads, each with the runs of one table at a time.

Most of a small run is waiting, for the storage and for the operator, so the runs of several tables are in their turns
at the same time. The runs of one table take theirs one after the other, in their order.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from paimon_contract.documents import to_text
from paimon_contract.job import Job
from paimon_contract.turns import TURNS_AT_ONCE, TurnOf, TurnReport, TurnRequest
from spark_apps.driver.process import Performed
from spark_apps.driver.turns import NotAnsweredError
from spark_apps.progress import log_step, log_steps_of


class JobQueue:
    """The jobs whose turns were not asked for, in their order. For several threads."""

    def __init__(self, jobs: Sequence[Job], has_time: Callable[[], bool], most: int = TURNS_AT_ONCE) -> None:
        """`most`: turns at the same time."""
        tables: dict[str, list[Job]] = {}
        for job in jobs:
            tables.setdefault(str(job.table), []).append(job)
        self._tables, self._has_time = deque(tables.values()), has_time
        self.closed, self.shares = threading.Event(), TimeShares()
        self.threads = min(most, len(tables))

    def close(self, why: str) -> None:
        """No thread asks for another turn. One that was asked for is performed."""
        log_step(why)
        self.closed.set()

    def take(self) -> Iterator[Job]:
        """The jobs of one table after the other, until none is left, the time is over or the queue is closed."""
        while self._tables:
            try:
                jobs = self._tables.popleft()
            except IndexError:  # another thread was faster
                return
            for job in jobs:
                if self.closed.is_set():
                    return
                if not self._has_time():
                    return self.close("the time for new turns is over")
                yield job


class TimeShares:
    """Divides the time among the turns that are in progress. For several threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._turns, self._since = 0, clock()
        self._sum = 0.0
        """The share in seconds of a turn that had been in progress from the first moment on."""

    @contextmanager
    def turn(self) -> Iterator[Callable[[], int]]:
        """A turn, for the block. Gives a function that afterwards returns its share in milliseconds."""
        begun = self._change(1)
        ended = begun
        try:
            yield lambda: round((ended - begun) * 1000)
        finally:
            ended = self._change(-1)

    def _change(self, turns: int) -> float:
        """Adds turns. Returns `_sum`, of which a turn's share is what is added from its begin to its end."""
        with self._lock:
            now = self._clock()
            self._sum += (now - self._since) / max(self._turns, 1)
            self._turns, self._since = self._turns + turns, now
            return self._sum


@dataclass
class TurnLoop:
    """One thread. `is_usable` tells whether the JVM may perform another job."""

    queue: JobQueue
    ask: Callable[[TurnRequest], bool]
    perform: Callable[[Job], Performed]
    is_usable: Callable[[], bool]
    unreported: TurnReport | None = None

    def run(self) -> None:
        """Performs the jobs whose turn begins. Afterwards `unreported` is the result that the operator has not taken.

        Ends early when the operator does not answer, the time is over, or a job has left the JVM unusable.
        """
        try:
            for job in self.queue.take():
                if self._begins(job):
                    self._perform(job)
                    if not self.is_usable():
                        self.queue.close("the JVM cannot be used for another job")
            if self.unreported is not None:
                self._send(None)
        except NotAnsweredError as error:
            self.queue.close(f"the batch ends, because the operator does not answer: {error}")
        except BaseException:
            self.queue.close("the batch ends by a bug in the driver")
            raise

    def _begins(self, job: Job) -> bool:
        log_steps_of(job)
        begins = self._send(TurnOf(name=job.run.name, uid=job.run.uid))
        log_step(f"the turn of run {job.run.name} begins" if begins else f"no turn for run {job.run.name}")
        return begins

    def _send(self, following: TurnOf | None) -> bool:
        begins = self.ask(TurnRequest(report=self.unreported, next=following))
        self.unreported = None
        return begins

    def _perform(self, job: Job) -> None:
        with self.queue.shares.turn() as share:
            document, _ = self.perform(job)
        text = to_text({**document, "ms": {**document["ms"], "share": share()}})
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
        self.unreported = TurnReport(run=TurnOf(name=job.run.name, uid=job.run.uid), result=text)
        log_steps_of(None)


def run_loops(queue: JobQueue, new_loop: Callable[[], TurnLoop], on_unreported: Callable[[TurnReport], object]) -> None:
    """Performs the jobs of the queue in as many threads as it has use for.

    Calls `on_unreported` with each result that the operator has not taken. Raises what has ended a thread.
    """
    loops = [new_loop() for _ in range(queue.threads)]
    with ThreadPoolExecutor(max_workers=max(1, len(loops))) as pool:
        ended = [pool.submit(loop.run) for loop in loops]
    for loop in loops:
        if loop.unreported is not None:
            on_unreported(loop.unreported)
    for each in ended:
        each.result()
