"""A benchmark whose operator or whose kubelets have ended says so at once, instead of waiting for what cannot come."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from paimon_operator.errors import ForbiddenError
from tests.apiserver.connected import Connected
from tests.apiserver.operator_process import OperatorProcess
from tests.cluster.processes import ProcessDiedError
from tools.benchmarks.fleet.kubelet import Kubelets
from tools.benchmarks.fleet.stage import until


async def _never() -> bool:
    return False


def test_an_operator_that_has_ended_is_waited_for_no_longer(tmp_path: Path) -> None:
    operator = OperatorProcess(tmp_path / "kubeconfig", tmp_path, namespaces=("fleet",), lease_namespace="fleet")
    operator.program = ("-c", "raise SystemExit('the Lease is lost')")
    with operator, pytest.raises(ProcessDiedError, match=r"ended with 1:\nthe Lease is lost"):
        asyncio.run(until(_never, operator))


def test_kubelets_that_are_refused_end_the_block() -> None:
    async def refuse(*_: object, **__: Any) -> None:
        raise ForbiddenError("pods is forbidden")

    async def wait_beside_them() -> None:
        api = cast(Connected, SimpleNamespace(server=SimpleNamespace(request=refuse)))
        async with Kubelets(api, "fleet").working():
            await asyncio.Event().wait()

    with pytest.raises(ExceptionGroup) as raised:
        asyncio.run(wait_beside_them())
    assert raised.group_contains(ForbiddenError, match="pods is forbidden")
