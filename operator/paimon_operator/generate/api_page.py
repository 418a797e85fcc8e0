"""The page of all fields, generated from the CRDs: `python -m paimon_operator.generate.api_page FILE`.

One section per object, in the order of the schema. An object that occurs again has one section, to which the others
link.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from paimon_operator.api.base import GROUP, VERSION, Json
from paimon_operator.generate.crd import RESOURCES, ResourceDefinition, definition, executor_rights_definition

_LINE_LENGTH: Final = 120
_HEAD: Final = f"""# API reference

The kinds of `{GROUP}/{VERSION}`, with every field of their manifests and of their status.
`make generate` writes this page from the CRDs; do not edit it. `kubectl explain pt.spec` shows the same text.

* Each section is an object; its heading is the path. `[]` is an entry of a list, `.*` is a value of a map.
* A field is optional unless it is called required. The text says what an absent field means.
* `kubectl apply` refuses a field that this page does not have, and a value outside of the bounds.
* [rules.md](rules.md) has the rules between the fields of a table, [reasons.md](reasons.md) the words of each `reason`.
* [tables.md](tables.md) and [storage.md](storage.md) explain the manifests by task.
"""
_BOUNDS: Final = (
    ("minLength", "maxLength", "characters"),
    ("minItems", "maxItems", "entries"),
    ("minProperties", "maxProperties", "entries"),
    ("minimum", "maximum", ""),
)
"""Keys of a lower and of an upper bound, and what they count."""
_LONGEST_PATTERN: Final = 60
"""Characters of a pattern that the page shows. The API server's message has longer ones."""


def page() -> str:
    """The page as Markdown."""
    kinds = (section for resource in RESOURCES for section in _kind(resource))
    return "\n".join([_HEAD, *kinds, *_kind_of_the_operator(executor_rights_definition())])


def _kind_of_the_operator(crd: Json) -> Iterator[str]:
    """A kind that only the operator writes."""
    kind, schema = crd["spec"]["names"]["kind"], crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    yield f"## {kind}\n\n{_wrapped(schema['description'])}\n"
    yield from _Sections(kind).of("spec", schema["properties"]["spec"])


def _kind(resource: ResourceDefinition) -> Iterator[str]:
    schema = definition(resource)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    columns = ", ".join(column.name for column in resource.columns)
    facts = [
        f"* Short name: `{resource.short_name}`. Namespaced.",
        _item(f"* A name has at most {resource.name_length} characters: small letters, digits and hyphens."),
        _item(f"* Columns of `kubectl get -o wide`: {columns}."),
    ]
    yield f"## {resource.kind}\n\n{_wrapped(schema['description'])}\n\n" + "\n".join(facts) + "\n"
    sections = _Sections(resource.kind)
    for part in ("spec", "status"):
        yield from sections.of(part, schema["properties"][part])


class _Sections:
    """The sections of one kind. Remembers each object, so that an equal one needs no section of its own."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._places: dict[str, str] = {}

    def of(self, path: str, schema: Json) -> Iterator[str]:
        """The section of an object, and those of the objects in it."""
        nested = {name: _nested(f"{path}.{name}", field) for name, field in schema["properties"].items()}
        new = [found for found in nested.values() if found is not None and self._is_new(*found)]
        required = schema.get("required", [])
        items = [
            _field(name, field, self._link(nested[name]), required=name in required, full=path.startswith("spec"))
            for name, field in schema["properties"].items()
        ]
        yield f"### {self._kind} {path}\n\n" + "\n".join(items) + "\n"
        for place, inner in new:
            yield from self.of(place, inner)

    def _is_new(self, place: str, schema: Json) -> bool:
        return self._places.setdefault(_shape(schema), place) == place

    def _link(self, found: tuple[str, Json] | None) -> str:
        if found is None:
            return ""
        place = self._places[_shape(found[1])]
        return f"[{place}](#{_anchor(f'{self._kind} {place}')})"


def _shape(schema: Json) -> str:
    """What two objects have in common that need one section."""
    return json.dumps(schema["properties"]) + json.dumps(schema.get("required", []))


def _nested(path: str, field: Json) -> tuple[str, Json] | None:
    """The object inside a field, with its path: the field itself, an entry of a list, or a value of a map."""
    if "properties" in field:
        return path, field
    if "items" in field:
        return _nested(f"{path}[]", field["items"])
    if "additionalProperties" in field:
        return _nested(f"{path}.*", field["additionalProperties"])
    return None


def _field(name: str, field: Json, link: str, *, required: bool, full: bool) -> str:
    facts = [_type(field)]
    if full:
        facts += (["required"] if required else []) + list(_limits(field))
    elif "enum" in field:
        facts.append(_choices(field))
    text = f"* **{name}** ({', '.join(facts)}): {field.get('description', '')}".rstrip()
    return _item(f"{text} Fields: {link}." if link else text)


def _type(field: Json) -> str:
    if "items" in field:
        return f"list of {_type(field['items'])}"
    if "additionalProperties" in field:
        return f"map to {_type(field['additionalProperties'])}"
    return "time" if field.get("format") == "date-time" else str(field["type"])


def _limits(field: Json) -> Iterator[str]:
    if "default" in field:
        yield f"default `{json.dumps(field['default'])}`"
    if "enum" in field:
        yield _choices(field)
        return
    for low, high, unit in _BOUNDS:
        if low in field or high in field:
            yield f"{_range(field.get(low), field.get(high))} {unit}".rstrip()
    if len(field.get("pattern", "")) in range(1, _LONGEST_PATTERN):
        yield f"pattern `{field['pattern']}`"


def _range(low: int | None, high: int | None) -> str:
    if low is None:
        return f"at most {high}"
    return f"at least {low}" if high is None else f"{low} to {high}"


def _choices(field: Json) -> str:
    return "one of " + ", ".join(f"`{value}`" for value in field["enum"])


def _anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading: small letters, hyphens for spaces, no punctuation."""
    return "".join(c for c in heading.lower().replace(" ", "-") if c.isalnum() or c in "-_")


def _item(text: str) -> str:
    return textwrap.fill(text, _LINE_LENGTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _LINE_LENGTH, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
