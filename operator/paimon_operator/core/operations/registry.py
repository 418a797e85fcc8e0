"""All operations: found in the packages of this folder, so that an operation is added by adding its file."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Final

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from paimon_operator.api.run.spec import PaimonRun, member_of
from paimon_operator.core import operations as package
from paimon_operator.core.operations.operation import OperationSpec, Role
from paimon_operator.core.ports import Manifest


class UnknownOperationError(LookupError):
    """A run has a type that this release does not have: an operator older than its CRDs meets it."""


@dataclass(frozen=True)
class Registry:
    """Operations in their order. Raises ValueError when two share a type, a place or a special role."""

    operations: tuple[OperationSpec, ...]

    def __post_init__(self) -> None:
        for values in (self.types, [each.order for each in self.operations]):
            if len(set(values)) != len(self.operations):
                raise ValueError(f"operations share a type or a place: {list(values)}")
        for role in (Role.ESTABLISHES_TABLE, Role.REMOVES_TABLE):
            self.with_role(role)

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The types of all runs."""
        return tuple(each.type for each in self.operations)

    @cached_property
    def on_demand(self) -> tuple[str, ...]:
        """The types that users may request."""
        return tuple(each.type for each in self.operations if each.on_demand is not None)

    @cached_property
    def recurring(self) -> tuple[OperationSpec, ...]:
        """Operations that become due by themselves on an established table."""
        return tuple(each for each in self.operations if each.scheduled is not None and each.role is Role.ORDINARY)

    @cached_property
    def memories(self) -> tuple[str, ...]:
        """Fields of a table's status that remember runs."""
        return tuple(each.memory for each in self.operations if each.memory is not None)

    def of(self, type_: str) -> OperationSpec:
        """The operation of a run's type. Raises UnknownOperationError."""
        found = next((each for each in self.operations if each.type == type_), None)
        if found is None:
            raise UnknownOperationError(f"no operation has the type {type_!r}; there are {', '.join(self.types)}")
        return found

    @cached_property
    def _by_role(self) -> Mapping[Role, tuple[OperationSpec, ...]]:
        return {role: tuple(each for each in self.operations if each.role is role) for role in Role}

    def with_role(self, role: Role) -> OperationSpec:
        """The one operation with a special role. Raises ValueError unless there is exactly one."""
        found = self._by_role[role]
        if len(found) != 1:
            raise ValueError(f"{len(found)} operations have the role {role.value!r}")
        return found[0]

    def has_role(self, type_: str, role: Role) -> bool:
        """Whether runs of this type have the role."""
        return self.of(type_).role is role

    def read_run(self, body: Manifest) -> PaimonRun:
        """A PaimonRun as the API server stores it. Raises pydantic's ValidationError, for an unknown type too."""
        run = PaimonRun.model_validate(body)
        try:
            member = self.of(run.spec.type).member
            if member is not None:
                member_of(run.spec, member.field, member.model)
        except UnknownOperationError as error:
            raise _refused([(str(error), ("type",))]) from error
        except ValidationError as error:
            field = member.field if member is not None else ""
            raise _refused([(each["msg"], (field, *each["loc"])) for each in error.errors()]) from error
        return run


def _refused(problems: list[tuple[str, tuple[int | str, ...]]]) -> ValidationError:
    """Pydantic's error for fields of a run's spec: what is wrong, and where below it."""
    details = [
        InitErrorDetails(type=PydanticCustomError("run_spec", "{text}", {"text": text}), loc=("spec", *at), input=None)
        for text, at in problems
    ]
    return ValidationError.from_exception_data("PaimonRun", details)


def discover(packages: Iterable[ModuleType]) -> Registry:
    """The operations of all modules in `packages` and below: each module with an OperationSpec called OPERATION."""
    found = (getattr(module, "OPERATION", None) for each in packages for module in _modules(each))
    operations = {each.type: each for each in found if isinstance(each, OperationSpec)}
    return Registry(tuple(sorted(operations.values(), key=lambda each: each.order)))


def _modules(parent: ModuleType) -> Iterator[ModuleType]:
    for each in pkgutil.walk_packages(parent.__path__, f"{parent.__name__}."):
        if each.name != __name__:
            yield importlib.import_module(each.name)


OPERATIONS: Final = discover([package])
