"""What users do to a fleet in a minute of a long life: tables come, change and go."""

from __future__ import annotations

import random
from contextlib import suppress
from functools import partial
from typing import Any, Final

from paimon_operator.core.ports import Kind
from paimon_operator.errors import AlreadyExistsError
from paimon_operator.kube.resources import RESOURCES
from tests.apiserver.connected import Connected
from tests.support.manifests import REMOVED, keyed_table
from tools.benchmarks.fleet.stage import until_answered

NAMESPACE: Final = "fleet"
SCHEDULED_EACH: Final = 5
"""Every fifth table has a write each minute."""
DROPPED_EACH: Final = 2
"""Every second table is dropped with its object."""
_TABLES: Final = RESOURCES[Kind.TABLE]


class Churn:
    """The users of one namespace. The same seed makes the same tables and edits."""

    def __init__(self, api: Connected, tables: int, seed: int) -> None:
        self._api, self._dice = api, random.Random(seed)  # noqa: S311 - no secret
        self._next, self._tables = 0, tables
        self.alive: list[int] = []

    async def fill(self) -> None:
        """Creates the first tables."""
        for _ in range(self._tables):
            await self._create()

    async def minute(self, changes: int) -> None:
        """Creates so many tables, edits as many, and deletes the oldest ones."""
        for _ in range(changes):
            await self._create()
        for number in self._dice.sample(self.alive, changes):
            await self._edit(number)
        for number in self.alive[:changes]:
            await self._delete(number)
        del self.alive[:changes]

    async def _create(self) -> None:
        number, self._next = self._next, self._next + 1
        writes = _writes() if number % SCHEDULED_EACH == 0 else REMOVED
        policy = "Delete" if number % DROPPED_EACH == 0 else "Retain"
        name = {"metadata__name": f"t{number}", "metadata__namespace": NAMESPACE}
        body = keyed_table(**name, spec__writes=writes, spec__table=f"t{number}", spec__deletionPolicy=policy)
        with suppress(AlreadyExistsError):  # created, and the answer was lost
            await until_answered(partial(self._api.store.create, Kind.TABLE, NAMESPACE, body))
        self.alive.append(number)

    async def _edit(self, number: int) -> None:
        """Another comment on a column: a run alters the table."""
        columns = keyed_table()["spec"]["schema"]["columns"]
        columns[-1]["comment"] = f"edited {self._dice.randrange(10**6)}"
        body = {"spec": {"schema": {"columns": columns}}}
        path = _TABLES.path(NAMESPACE, f"t{number}")
        await until_answered(partial(self._api.server.request, "merge", path, kind=Kind.TABLE, body=body))

    async def _delete(self, number: int) -> None:
        store, name = self._api.store, f"t{number}"
        table = await until_answered(partial(store.get, Kind.TABLE, NAMESPACE, name))
        if table is not None:
            uid = table["metadata"]["uid"]
            await until_answered(partial(store.delete, Kind.TABLE, NAMESPACE, name, uid=uid))


def _writes() -> list[dict[str, Any]]:
    (write,) = keyed_table()["spec"]["writes"]
    return [{**write, "trigger": {"type": "Schedule", "schedule": "* * * * *"}}]
