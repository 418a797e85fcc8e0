"""Which runs give way to other work of their table. The whole way is in tests/runtime/test_companions.py."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.table import giving_way


@pytest.mark.parametrize("step", [giving_way.asked, giving_way.deferred])
def test_a_table_without_an_active_run_stays_as_it_is(step: Callable[[TableStatus], TableStatus]) -> None:
    status = TableStatus(observed_generation=3)
    assert step(status) == status
