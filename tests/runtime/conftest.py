"""Fixtures of the tests that drive the whole operator in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.runtime.operator_in_memory import OperatorInMemory
from tests.support.strict_cache import make_strict


@pytest.fixture(autouse=True)
def _strict_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every read of a field that the cache does not keep fails the test."""
    make_strict(monkeypatch)


@pytest.fixture
async def operator(request: pytest.FixtureRequest) -> AsyncIterator[OperatorInMemory]:
    operator = await OperatorInMemory(sharing=getattr(request.module, "SHARING", None)).start()
    yield operator
    await operator.stop()
