"""Every block of YAML in the docs, as the object that it is a part of.

A page often shows a part of a manifest: `bucket: {...}` alone. Such a part is put into a whole manifest. A part fits if
the CRD has its fields there and the operator admits the result.
"""

from __future__ import annotations

import functools
import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import jsonschema
import yaml

from paimon_operator.api.base import GROUP, VERSION
from paimon_operator.generate.crd import RESOURCES, definition
from tests.support import crd_schema, manifests
from tests.support.blamed_fields import fields_blamed
from tests.support.manifests import REMOVED, Manifest

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = (
    *sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("*.md")), *sorted((ROOT / "charts").glob("*/*.md"))
)  # fmt: skip
"""Every page, a new one too."""
_BLOCK: Final = re.compile(r"^( *)```(ya?ml)\n(.*?)^ *```", flags=re.DOTALL | re.MULTILINE)
_KINDS: Final = tuple(resource.kind for resource in RESOURCES)
_VALUES: Final = ROOT / "charts" / "paimon-operator" / "values.schema.json"


class Form(StrEnum):
    """What a document of a page is, and so how a server sees it."""

    MANIFEST = "a manifest of the three kinds, or a part of one"
    OBJECT = "a whole object of another API, such as a Secret"
    VALUES = "a part of the chart's values"
    STATUS = "a part of a status of the three kinds"


@dataclass(frozen=True)
class Block:
    """A block of YAML: its page, the line of its fence, and its text without indentation."""

    page: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def documents(self) -> list[Any]:
        """What the block has, as data. A digest that is left out counts as zeros. Raises YAMLError."""
        return list(yaml.safe_load_all(self.text.replace("sha256:...", "sha256:" + "0" * 64)))


def blocks() -> Iterator[Block]:
    """Yields the blocks of all pages."""
    for page in PAGES:
        yield from blocks_of(page.read_text(encoding="utf-8"), page.relative_to(ROOT).as_posix())


def blocks_of(text: str, page: str) -> Iterator[Block]:
    """Yields the blocks of the text of a page."""
    for found in _BLOCK.finditer(text):
        yield Block(page, text.count("\n", 0, found.start()) + 1, textwrap.dedent(found[3]))


def whole(document: Any) -> Manifest | None:
    """The manifest of which the document is a part and that is admitted. None if it is a part of none."""
    for manifest in _candidates(document):
        if not refusals(manifest):
            return manifest
    return None


def refusals(manifest: Manifest) -> list[str]:
    """What the CRD and the operator refuse in a manifest of the three kinds; empty if it is admitted."""
    kind = manifest["kind"]
    wrong = [f"{error.json_path}: {error.message}"[:300] for error in _validator(kind).iter_errors(manifest)]
    unknown = crd_schema.unknown_fields(manifest["spec"], _schema(kind)["properties"]["spec"])
    return [*wrong, *unknown] or fields_blamed(manifest, claims_allowed=True)


def is_foreign(document: Any) -> bool:
    """Whether the document is a whole object of another API, such as a Secret."""
    return (
        isinstance(document, dict) and {"apiVersion", "kind", "metadata"} <= document.keys() and not _is_ours(document)
    )


def is_part_of_values(document: Any) -> bool:
    """Whether the document is a part of the chart's values."""
    schema = json.loads(_VALUES.read_text(encoding="utf-8"))
    parts = {key: value for key, value in schema["properties"].items() if key in document}
    if parts.keys() != document.keys():
        return False
    usual = yaml.safe_load((_VALUES.parent / "values.yaml").read_text(encoding="utf-8"))
    return jsonschema.Draft7Validator(schema).is_valid(_merged(usual, document))


def whole_status(document: Any) -> tuple[str, Manifest] | None:
    """The kind and the status of which the document is a part, with nothing else in it. None if it is part of none."""
    for kind in _KINDS:
        for status in _around(document, crd_schema.schema(kind, "status")):
            if not crd_schema.problems(kind, status):
                return kind, status
    return None


def form(document: Any) -> Form | None:
    """What the document is. None: it is none of these, so no server would have it."""
    if whole(document) is not None:
        return Form.MANIFEST
    if is_foreign(document):
        return Form.OBJECT
    if is_part_of_values(document):
        return Form.VALUES
    return Form.STATUS if whole_status(document) is not None else None


def _is_ours(document: Manifest) -> bool:
    return str(document.get("apiVersion")) == f"{GROUP}/{VERSION}"


def _candidates(document: Manifest) -> Iterator[Manifest]:
    """The manifests of which the document may be a part: itself, its `spec`, a part of a spec or of a schema."""
    if _is_ours(document):
        metadata = {"name": "from-the-docs", "namespace": manifests.keyed_table()["metadata"]["namespace"]}
        yield document | {"metadata": metadata | document.get("metadata", {})}
        return
    for usual in _usual_manifests():
        if document.keys() <= {"kind", "spec"} and document.get("kind", usual["kind"]) == usual["kind"]:
            yield usual | {"spec": usual["spec"] | document["spec"]}
        yield usual | {"spec": usual["spec"] | document}
        if "schema" in usual["spec"]:
            yield usual | {"spec": usual["spec"] | {"schema": usual["spec"]["schema"] | document}}


def _usual_manifests() -> Iterator[Manifest]:
    """Whole manifests into which a part is put: the fields of a part replace theirs."""
    columns = [
        {"name": name, "type": type_}
        for name, type_ in (
            ("order_id", "BIGINT"), ("dt", "STRING"), ("state", "STRING"), ("op", "STRING"), ("city", "STRING"),
            ("price", "DOUBLE"), ("updated_at", "TIMESTAMP(6)"),
        )
    ]  # fmt: skip
    keyed = manifests.keyed_table(spec__writes=REMOVED, spec__schema={"columns": columns, "primaryKeys": ["order_id"]})
    partitioned = {"columns": columns, "primaryKeys": ["order_id", "dt"], "partitionKeys": ["dt"]}
    yield keyed
    yield manifests.edited(keyed, spec__schema=partitioned)
    yield manifests.append_table(spec__schema={"columns": columns})
    yield manifests.append_table(spec__schema={"columns": columns, "partitionKeys": ["dt"]})
    yield manifests.catalog()
    yield manifests.edited(manifests.catalog(), spec__metastore=REMOVED, spec__locations=REMOVED)
    yield manifests.run()
    yield manifests.run(spec__compact=REMOVED)


def _merged(usual: Manifest, part: Manifest) -> Manifest:
    merged = deepcopy(usual)
    for key, value in part.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both else value
    return merged


def _around(document: Manifest, node: Mapping[str, Any]) -> Iterator[Any]:
    """The document at each place below a node of a schema that has fields, as the value of the node."""
    if "properties" in node:
        yield document
    for name, inner in node.get("properties", {}).items():
        yield from ({name: value} for value in _around(document, inner))
    if "items" in node:
        yield from ([value] for value in _around(document, node["items"]))
    named = node.get("additionalProperties")
    if isinstance(named, dict):
        yield from ({"name": value} for value in _around(document, named))


@functools.cache
def _schema(kind: str) -> Manifest:
    (resource,) = (resource for resource in RESOURCES if resource.kind == kind)
    return dict(definition(resource)["spec"]["versions"][0]["schema"]["openAPIV3Schema"])


@functools.cache
def _validator(kind: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(_schema(kind))
