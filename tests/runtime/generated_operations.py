"""A table that is edited by chance: operations made of the CRD's schema, and a world in which their work ends.

An operation replaces, adds or removes one member of the spec, undoes the one before, or changes nothing. Members come
from the generated manifests, so some fit no other member of this table: the operator has to refuse those.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from typing import Any, Final

from paimon_operator.core.ports import Kind
from tests.runtime.operator_in_memory import has_ended, lake, shop
from tests.runtime.stale_watches import World
from tests.support import builders
from tests.support.generated_manifests.generator import manifest
from tests.support.generated_manifests.kept import ACCEPTED, FILE, judge
from tests.support.manifests import Manifest
from tests.support.object_store import Request

ENGINE: Final = "paimon-1.4"
NAME: Final = "orders"
_MOST_ROUNDS: Final = 40
_PLACE: Final = ("catalogRef", "database", "table")
"""Members that say where the table is: nobody may change them."""


class Operation(Enum):
    """What becomes of the spec."""

    SET = auto()
    REMOVE = auto()
    ADD_COLUMN = auto()
    UNDO = auto()
    AGAIN = auto()


@cache
def accepted() -> Sequence[int]:
    """Numbers of the generated manifests that the engine accepts."""
    lines = [line.split() for line in FILE.read_text(encoding="utf-8").splitlines()]
    return [int(number) for number, _, _, verdict in lines if verdict == ACCEPTED]


class Author:
    """Writes the specs of one table, one after the other. `random` decides on all."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self.specs: list[dict[str, Any]] = [manifest(dice.choice(accepted()))["spec"]]
        """All so far."""

    def next(self) -> Operation:
        """The next operation. Its spec is the last of `specs` then."""
        before = self.specs[-1]
        operation = self._dice.choice(list(Operation))
        spec = deepcopy(self.specs[-2] if operation is Operation.UNDO and len(self.specs) > 1 else before)
        if operation is Operation.SET:
            donor = manifest(self._dice.choice(accepted()))["spec"]
            member = self._dice.choice([name for name in donor if name not in _PLACE])
            spec[member] = donor[member]
        elif operation is Operation.REMOVE:
            optional = [name for name in spec if name not in (*_PLACE, "schema")]
            for member in self._dice.sample(optional, min(1, len(optional))):
                del spec[member]
        elif operation is Operation.ADD_COLUMN:
            spec["schema"]["columns"].append({"name": f"c{len(self.specs)}", "type": "STRING"})
        self.specs.append(spec)
        return operation


@dataclass(frozen=True)
class Outcome:
    """What the spec alone decides, not the way to it."""

    conditions: Sequence[tuple[str, str, str]]
    """Type, status and reason."""
    effective: Mapping[str, Any]
    provisioned: str | None
    """Hash of the last table that a run has made."""


class EditedTable(World):
    """An operator in memory with one table, whose drivers succeed."""

    def __init__(self) -> None:
        super().__init__([], None)
        self.store.put(lake(spec__engine=ENGINE))

    async def apply(self, spec: Mapping[str, Any]) -> Outcome:
        """Applies the spec and lets all work end. Raises AssertionError if it never ends."""
        self.store.put(body_of(spec))
        for number in range(_MOST_ROUNDS):
            await self.round(number)
            if self._is_quiet():
                return self.outcome()
        raise AssertionError(f"the work never ends: {self.operator.table(NAME)['status']}")

    async def writes_of_another_look(self) -> Sequence[Request]:
        """Writes that the operator sends when it reads all objects again, of which none has changed."""
        before = len(self.store.writes)
        self.operator.router.on_event(Kind.TABLE, "MODIFIED", self.operator.table(NAME))
        await self.operator.resync.catch_up()
        await self.operator.settle()
        return self.store.writes[before:]

    def _is_quiet(self) -> bool:
        table = self.operator.table(NAME)
        status = table.get("status") or {}
        return (
            status.get("observedGeneration") == table["metadata"]["generation"]
            and not self.active_runs()
            and all(has_ended(self.operator, pod) for pod in self.store.names(Kind.POD))
            and self.operator.condition("Reconciling", NAME)[0] == "False"
        )

    def outcome(self) -> Outcome:
        """What the table's status says now. Healthy is left out: it tells what runs have measured."""
        status = self.operator.table(NAME)["status"]
        conditions = [(each["type"], each["status"], each["reason"]) for each in status["conditions"]]
        return Outcome(
            conditions=[each for each in conditions if each[0] != "Healthy"],
            effective=status.get("effective") or {},
            provisioned=(status.get("provision") or {}).get("hash"),
        )


def body_of(spec: Mapping[str, Any]) -> Manifest:
    """The manifest of the table."""
    return shop({**builders.table_manifest(), "spec": spec})


def is_accepted(spec: Mapping[str, Any]) -> bool:
    """Whether the operator's own rules accept the spec."""
    judged = judge(dict(body_of(spec)), ENGINE)
    return judged.context is not None and not judged.errors
