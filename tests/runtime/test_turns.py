"""Requests of drivers of shared Pods, until a reconcile of the run answers them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from paimon_contract.turns import TurnOf
from paimon_operator.api.run.status import Attempt, AttemptState, RunStatus
from paimon_operator.core.launch.batch_pod import SharedPod
from paimon_operator.core.ports import Kind
from paimon_operator.runtime import turns
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.turns import TurnRequests
from tests.support import builders

KEY = Key(Kind.RUN, "shop", "r")
POD = SharedPod(
    namespace="shop",
    name="p",
    uid="uid-of-p",
    memory="1Gi",
    cores=1,
    launch_hash="0",
    jobs={"u": "{}"},
    runs={"r": "t"},
)
BEGUN = RunStatus(
    attempts=(
        Attempt(
            number=1, state=AttemptState.RUNNING, pod=POD.name, pod_uid=POD.uid, shared=True, launched=builders.NOW
        ),
    )
)


async def asked(answer: Callable[[TurnRequests], None], monkeypatch: pytest.MonkeyPatch) -> bool:
    """The answer to a driver that asks for the run, after the reconcile that `answer` stands for."""
    monkeypatch.setattr(turns, "ANSWER_WITHIN_S", 0.01)
    requests = TurnRequests()
    asking = asyncio.ensure_future(requests.begin(POD, TurnOf(name="r", uid="u")))
    await asyncio.sleep(0)
    answer(requests)
    return await asking


def _defer(known: TurnRequests) -> None:
    turn = known.of(KEY, "u")
    assert turn is not None
    known.defer(KEY, turn)


ANSWERS: dict[str, tuple[Callable[[TurnRequests], None], bool]] = {
    "the turn is stored": (lambda known: known.answer(KEY, "u", known.of(KEY, "u"), BEGUN), True),
    "it waits for something else": (lambda known: known.answer(KEY, "u", known.of(KEY, "u"), RunStatus()), False),
    "the run is gone": (lambda known: known.answer(KEY, None, None, None), False),
    "another object has its name": (lambda known: known.answer(KEY, "another", None, BEGUN), False),
    "the table has not named it in time": (_defer, False),
}


@pytest.mark.parametrize(("answer", "begins"), ANSWERS.values(), ids=ANSWERS)
async def test_a_turn_begins_only_if_a_reconcile_has_stored_it(
    answer: Callable[[TurnRequests], None], begins: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await asked(answer, monkeypatch) is begins


async def test_a_driver_asks_again_while_no_reconcile_has_seen_its_request(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TimeoutError):
        await asked(lambda _: None, monkeypatch)


async def test_a_reconcile_that_began_before_the_request_answers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TimeoutError):
        await asked(lambda known: known.answer(KEY, "u", None, BEGUN), monkeypatch)
