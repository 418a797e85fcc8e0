"""Converts pydantic's JSON Schema to the structural schema of a CRD.

A model without a structural form is an error here, not at `kubectl apply`: a recursive model, a union of two types, a
keyword that the API server does not know.
"""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel

from paimon_operator.api.base import Json

_DROPPED: Final = {"title", "examples", "const", "$defs"}
_OPEN: Final = "x-kubernetes-preserve-unknown-fields"
"""Marks an object of Kubernetes itself, which is checked where it is used."""
_COPIED: Final = {
    "description", "format", "enum", "pattern", "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems",
    "minProperties", "maxProperties",
    "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-validations", _OPEN,
}  # fmt: skip
_NOTHING: Final[tuple[object, ...]] = (None, [], {})


class NotStructuralError(TypeError):
    """A model has no structural form. The message names the place in the model."""


def structural(model: type[BaseModel], *, by_users: bool) -> Json:
    """The structural schema of a model.

    Only what users write gets defaults and CEL rules: a rule must never reject a status that the operator writes.
    """
    document = model.model_json_schema(by_alias=True)
    return _Converter(document.get("$defs", {}), by_users=by_users).convert(document, model.__name__, ())


class _Converter:
    def __init__(self, definitions: dict[str, Json], *, by_users: bool) -> None:
        self._definitions, self._by_users = definitions, by_users

    def convert(self, node: Json, place: str, within: tuple[str, ...]) -> Json:
        node, within = self._resolved(node, place, within)
        unknown = node.keys() - _COPIED - _DROPPED - {"type", "default", "properties", "required", "items"}
        if unknown - {"additionalProperties"}:
            raise NotStructuralError(f"{place}: {sorted(unknown)} has no structural form")
        result: Json = {"type": self._type(node, place)}
        if "description" in node:
            result["description"] = " ".join(str(node["description"]).split())
        result |= {key: node[key] for key in node if key in _COPIED and key != "description"}
        if self._by_users and node.get("default") not in _NOTHING:
            result["default"] = node["default"]
        if not self._by_users:
            result.pop("x-kubernetes-validations", None)
        if result["type"] == "array":
            result.setdefault("x-kubernetes-list-type", "atomic")
            result["items"] = self.convert(node["items"], f"{place}[]", within)
        if result["type"] == "object":
            result |= self._object(node, place, within)
        return result

    def _resolved(self, node: Json, place: str, within: tuple[str, ...]) -> tuple[Json, tuple[str, ...]]:
        """Follows references and takes `T` out of `T | None`. A key beside a reference overrides that of its target."""
        while "$ref" in node or "anyOf" in node:
            if "anyOf" in node:
                present = [option for option in node["anyOf"] if option != {"type": "null"}]
                if len(present) != 1:
                    raise NotStructuralError(f"{place}: a union of {len(present)} types: use optional siblings")
                target = present[0]
            else:
                name = node["$ref"].removeprefix("#/$defs/")
                if name in within:
                    raise NotStructuralError(f"{place}: {name} contains itself")
                within, target = (*within, name), self._definitions[name]
            node = target | {key: value for key, value in node.items() if key not in ("anyOf", "$ref")}
        return node, within

    def _type(self, node: Json, place: str) -> str:
        if isinstance(node.get("type"), str):
            return str(node["type"])
        raise NotStructuralError(f"{place}: has no single type")

    def _object(self, node: Json, place: str, within: tuple[str, ...]) -> Json:
        if "properties" in node:
            properties = {
                name: self.convert(child, f"{place}.{name}", within) for name, child in node["properties"].items()
            }
            required = {"required": node["required"]} if node.get("required") else {}
            return {"properties": properties} | required
        if node.get(_OPEN):
            return {}
        values = node.get("additionalProperties")
        if not isinstance(values, dict):
            raise NotStructuralError(f"{place}: an object without properties")
        return {"additionalProperties": self.convert(values, f"{place}.*", within)}
