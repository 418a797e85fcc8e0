"""What of a PaimonRun's definition, and of the chart, follows from the list of operations.

`python -m paimon_operator.generate.run_types FILE` writes the chart's list; a test compares with what is committed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

from paimon_operator.api.base import Json, rule
from paimon_operator.api.run.status import RUN_TYPES
from paimon_operator.core.operations import registry
from paimon_operator.core.operations.operation import RunMember
from paimon_operator.core.operations.registry import Registry
from paimon_operator.generate.structural import structural


def run_spec(spec: Json, operations: Registry) -> Json:
    """The schema of a run's spec with the members of all operations, their rules, and who may request what."""
    properties: Json = {}
    for name, schema in spec["properties"].items():
        properties[name] = schema
        if name == "type":
            properties["type"] = schema | {"description": _who_requests(operations)}
            properties |= {member.field: _member_schema(member, type_) for type_, member in _members(operations)}
    rules = [*spec["x-kubernetes-validations"], *_member_rules(operations), _request_rule(operations)]
    return spec | {"x-kubernetes-validations": rules, "properties": properties}


def with_run_types(node: Any, types: Sequence[str]) -> Any:
    """The schema with `types` wherever a model says that it takes the type of a run."""
    if isinstance(node, dict):
        changed = {key: with_run_types(value, types) for key, value in node.items()}
        return changed | {"enum": list(types)} if node.get("enum") == [RUN_TYPES] else changed
    return [with_run_types(each, types) for each in node] if isinstance(node, list) else node


def chart_values(operations: Registry) -> str:
    """The chart's list of run types, as YAML."""
    head = "# Generated from operator/paimon_operator/core/operations by `make generate`; do not edit.\n"
    return head + yaml.safe_dump({"types": list(operations.types), "onDemand": list(operations.on_demand)})


def _members(operations: Registry) -> list[tuple[str, RunMember]]:
    return [(each.type, each.member) for each in operations.operations if each.member is not None]


def _member_schema(member: RunMember, type_: str) -> Json:
    return structural(member.model, by_users=True) | {"description": f"Set when type is {type_}."}


def _member_rules(operations: Registry) -> list[Json]:
    return [
        _rule(
            f"(self.type == '{type_}') == has(self.{member.field})",
            f"{member.field} must be set when type is {type_}, and only then",
            path=f".{member.field}",
        )
        for type_, member in _members(operations)
    ]


def _request_rule(operations: Registry) -> Json:
    return _rule(
        f"has(self.trigger) || self.type in [{', '.join(repr(each) for each in operations.on_demand)}]",
        f"only the operator starts runs of this type; users may make {_listed(operations.on_demand)}",
        path=".type",
    )


def _rule(expression: str, message: str, path: str) -> Json:
    """Keys sorted, as pydantic sorts those of the models' own rules."""
    return dict(sorted(rule(expression, message, path=path).items()))


def _who_requests(operations: Registry) -> str:
    others = _listed(each for each in operations.types if each not in operations.on_demand)
    return f"Type of the run. Users may create {_listed(operations.on_demand)}; only the operator creates {others}."


def _listed(words: Iterable[str]) -> str:
    """`A`, `A and B`, `A, B and C`."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(chart_values(registry.OPERATIONS))
