"""Fixtures of the tests that drive the whole operator in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.runtime.operator_in_memory import OperatorInMemory


@pytest.fixture
async def operator() -> AsyncIterator[OperatorInMemory]:
    operator = await OperatorInMemory().start()
    yield operator
    operator.queue.close()
    await operator.workers.stop()
