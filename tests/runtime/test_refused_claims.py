"""An object whose run the API server refuses to create keeps no table from another object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.errors import ForbiddenError
from tests.runtime.operator_in_memory import SHOP, OperatorInMemory, lake, orders
from tests.runtime.test_one_run_per_table import YARD, active_run, in_other_namespace, pods
from tests.support.object_store import ObjectStore
from tests.support.virtual_time import VirtualTime


@dataclass
class QuotaStore(ObjectStore):
    """Refuses PaimonRuns in one namespace, as a ResourceQuota of `count/paimonruns` does."""

    exhausted: bool = True

    async def create(self, kind: Kind, namespace: str, body: Mapping[str, Any]) -> Manifest:
        if self.exhausted and kind is Kind.RUN and namespace == YARD:
            raise ForbiddenError("exceeded quota: count/paimonruns", status=403)
        return await super().create(kind, namespace, body)


async def operator_with_refused_run() -> tuple[OperatorInMemory, QuotaStore]:
    time = VirtualTime()
    store = QuotaStore(time)
    operator = await OperatorInMemory(store=store, time=time).start()
    await operator.apply(in_other_namespace(lake()), in_other_namespace(orders()))
    assert (active_run(operator, YARD) is not None, pods(operator)) == (True, [])
    return operator, store


async def test_another_object_gets_the_table_although_a_refused_run_was_there_first() -> None:
    operator, store = await operator_with_refused_run()
    await operator.pass_time(minutes=5)
    await operator.apply(lake(), orders())
    assert pods(operator) == [SHOP]

    store.exhausted = False
    await operator.pass_time(minutes=5)

    assert pods(operator) == [SHOP]
    assert active_run(operator, YARD) is None
    await operator.stop()


async def test_a_refused_run_is_created_once_its_quota_allows_it() -> None:
    operator, store = await operator_with_refused_run()
    store.exhausted = False
    await operator.pass_time(minutes=30)
    await operator.apply(lake(), orders())
    assert pods(operator) == [YARD]
    await operator.stop()
