"""What drivers of shared Pods ask and report, until the reconcile of the run has answered.

Only a reconcile writes the status of a run, so a request waits for one. A request that was not answered in time is
repeated by its driver. Nothing here is needed after a restart.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from paimon_contract.turns import TurnOf
from paimon_operator.api.run.status import RunStatus
from paimon_operator.core.launch.batch_pod import SharedPod
from paimon_operator.core.ports import Kind
from paimon_operator.core.run.observed import Turn
from paimon_operator.core.run.turn import has_begun
from paimon_operator.runtime.keys import Key

ANSWER_WITHIN_S: Final = 8.0
"""Seconds that a request waits for the reconcile: less than the time-out of the driver."""


@dataclass
class _Asked:
    """One request that waits for the reconcile of its run."""

    uid: str
    turn: Turn
    answer: asyncio.Future[bool]
    deferred: bool = False
    """A reconcile has seen it: the turn begins if the table names the run within the time."""


class TurnRequests:
    """The requests that wait. `enqueue(run)` asks for a reconcile."""

    def __init__(self, *, enqueue: Callable[[Key], None] = lambda _: None) -> None:
        self._enqueue = enqueue
        self._asked: dict[Key, _Asked] = {}

    async def begin(self, pod: SharedPod, run: TurnOf) -> bool:
        """Whether the run's turn in the Pod has begun. Raises TimeoutError if no reconcile has decided it."""
        return await self._ask(pod, run, Turn(pod=pod, asks=True))

    async def end(self, pod: SharedPod, run: TurnOf, result: str) -> None:
        """Stores the end of the run's turn in the Pod. Raises TimeoutError if no reconcile has done so."""
        await self._ask(pod, run, Turn(pod=pod, result=result))

    def of(self, run: Key, uid: str) -> Turn | None:
        """What is asked or reported of the run with this UID."""
        asked = self._asked.get(run)
        return asked.turn if asked is not None and asked.uid == uid else None

    def answer(self, run: Key, uid: str | None, turn: Turn | None, status: RunStatus | None) -> None:
        """The reconcile of the run with this UID has seen `turn` and stored `status`; no UID: no such run exists."""
        asked = self._asked.get(run)
        if asked is None or asked.answer.done() or (asked.uid == uid and asked.turn is not turn):
            return
        asked.answer.set_result(asked.uid == uid and has_begun(status, asked.turn.pod.uid))

    def defer(self, run: Key, turn: Turn) -> None:
        """The reconcile that has seen `turn` waits until the table names the run. Then another one answers."""
        asked = self._asked.get(run)
        if asked is not None and asked.turn is turn:
            asked.deferred = True

    async def _ask(self, pod: SharedPod, run: TurnOf, turn: Turn) -> bool:
        key = Key(Kind.RUN, pod.namespace, run.name)
        asked = self._asked[key] = _Asked(run.uid, turn, asyncio.get_running_loop().create_future())
        self._enqueue(key)
        try:
            async with asyncio.timeout(ANSWER_WITHIN_S):
                return await asked.answer
        except TimeoutError:
            if not asked.deferred:
                raise
            return False
        finally:
            if self._asked.get(key) is asked:
                del self._asked[key]
