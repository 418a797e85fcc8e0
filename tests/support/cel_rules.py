"""The CEL rules of the three CRDs, and which manifests they see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from paimon_operator.generate.crd import RESOURCES, definition
from tests.support.manifests import Manifest

_LEAST_WORDS = 12


@dataclass(frozen=True)
class CelRule:
    """One rule: where it stands, and which field it blames."""

    kind: str
    node: str
    """Path of the value that it sees: `spec.schema.columns[]`. Empty for the whole object."""
    field: str
    message: str
    expression: str
    """CEL of the message, if it has a part that is not fixed."""
    of_edits: bool
    """Whether it compares with the object before an edit."""

    def says(self, words: str) -> bool:
        """Whether the message that it makes has these words, and those of a rule beside it have not."""
        fixed = [each.strip() for each in re.findall(r"'([^']*)'", self.expression) if len(each) > _LEAST_WORDS]
        return words in self.message or words in self.expression or any(each in words for each in fixed)

    def sees(self, manifest: Manifest) -> bool:
        """Whether the manifest has a value where the rule stands."""
        return manifest["kind"] == self.kind and any(_values(manifest, self.node))


def cel_rules() -> list[CelRule]:
    """All rules about what users write."""
    roots = {each.kind: definition(each)["spec"]["versions"][0]["schema"]["openAPIV3Schema"] for each in RESOURCES}
    return [rule for kind, root in roots.items() for rule in _rules(kind, root, "")]


def is_of(field: str, path: str) -> bool:
    """Whether a field of a message, with numbers, is the path of a rule. A key of a map has no path of its own."""
    return re.sub(r"\[\d+\]", "[]", field) in (path, path.removesuffix("[]"))


def _rules(kind: str, schema: dict[str, Any], path: str) -> Iterator[CelRule]:
    for each in schema.get("x-kubernetes-validations", []):
        field = f"{path}{each.get('fieldPath', '')}".lstrip(".")
        of_edits = "oldSelf" in each["rule"]
        yield CelRule(kind, path, field, each["message"], each.get("messageExpression", ""), of_edits)
    for name, member in schema.get("properties", {}).items():
        yield from _rules(kind, member, f"{path}.{name}".lstrip("."))
    for inner in ("items", "additionalProperties"):
        if isinstance(schema.get(inner), dict):
            yield from _rules(kind, schema[inner], f"{path}[]")


def _values(value: Any, path: str) -> Iterator[Any]:
    """The values at a path."""
    if not path:
        yield value
        return
    name, _, rest = path.partition(".")
    member = value.get(name.removesuffix("[]")) if isinstance(value, dict) else None
    if member is None:
        return
    members = [member] if not name.endswith("[]") else member.values() if isinstance(member, dict) else member
    for each in members:
        yield from _values(each, rest)
