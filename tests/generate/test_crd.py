"""The committed CRDs equal the generated ones and follow the rules of Kubernetes and our own."""

from __future__ import annotations

import copy
import functools
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from pydantic import BaseModel, ValidationError

from paimon_operator.api.table.options import (
    OPTION_FIELDS,
    OPTION_RULES,
    RESERVED_OPTIONS,
    RESERVED_PREFIXES,
    RESERVED_WORDS,
)
from paimon_operator.core.operations.registry import OPERATIONS
from paimon_operator.generate.crd import RESOURCES, ResourceDefinition, definition, write
from tests.generate.structural_rules import faults, nodes
from tests.support import widest_tables
from tests.support.manifests import append_table, catalog, keyed_table, run
from tests.support.wrong_manifest import WrongManifest
from tests.support.wrong_manifests import WRONG_MANIFESTS

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))
MODELS: dict[str, type[BaseModel]] = {resource.kind: resource.model for resource in RESOURCES}

every_resource = pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.kind)


@functools.cache
def schema_of(kind: str) -> dict[str, Any]:
    (resource,) = (resource for resource in RESOURCES if resource.kind == kind)
    return dict(definition(resource)["spec"]["versions"][0]["schema"]["openAPIV3Schema"])


@functools.cache
def validator(kind: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema_of(kind))


def accepted_by_schema(manifest: dict[str, Any]) -> bool:
    return bool(validator(manifest["kind"]).is_valid(manifest))


def accepted_by_model(manifest: dict[str, Any]) -> bool:
    try:
        if manifest["kind"] == "PaimonRun":
            OPERATIONS.read_run(manifest)
        else:
            MODELS[manifest["kind"]].model_validate(manifest)
    except ValidationError:
        return False
    return True


def test_the_committed_definitions_are_the_generated_ones(tmp_path: Path) -> None:
    write(tmp_path)
    generated, committed = (
        {file.name: file.read_text() for file in directory.iterdir()} for directory in (tmp_path, ROOT / "crds")
    )
    assert generated == committed, "run `make generate`"


@every_resource
def test_a_definition_is_structural_described_and_bounded(resource: ResourceDefinition) -> None:
    assert faults(schema_of(resource.kind)) == []


FAULTY = [
    ({"type": "string", "description": "x"}, ".spec.x: an unbounded string"),
    ({"type": "string", "maxLength": 3}, ".spec.x: has no description"),
    ({"description": "x", "maxLength": 3}, ".spec.x: type is None"),
    ({"type": "array", "description": "x", "maxItems": 1, "items": {"type": "integer"}}, ".spec.x: list type is None"),
    ({"type": "object", "description": "x"}, ".spec.x: an object of anything"),
    ({"type": "integer", "description": "x", "$ref": "#/a"}, ".spec.x: $ref is not structural"),
]


@pytest.mark.parametrize(("node", "fault"), FAULTY, ids=[fault for _, fault in FAULTY])
def test_the_check_of_definitions_finds_a_fault(node: dict[str, Any], fault: str) -> None:
    spec = {"type": "object", "description": "x", "properties": {"x": node}}
    assert faults({"type": "object", "properties": {"spec": spec}}) == [fault]


@every_resource
def test_a_printer_column_has_the_type_of_its_field(resource: ResourceDefinition) -> None:
    kinds = dict(nodes(schema_of(resource.kind)))
    for column in resource.columns:
        if column.path == ".metadata.creationTimestamp":
            continue
        path = column.path.split("[?")[0] + ("[]" + column.path.split(")]")[1] if "[?" in column.path else "")
        kind = "date" if kinds[path].get("format") == "date-time" else kinds[path]["type"]
        assert kind == column.type, column.name


@every_resource
def test_the_default_status_has_the_observed_generation_minus_one(resource: ResourceDefinition) -> None:
    status = schema_of(resource.kind)["properties"]["status"]
    assert status["default"] == {"observedGeneration": -1}
    assert "status" not in schema_of(resource.kind)["required"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_model_and_schema_accept_every_example(path: Path) -> None:
    documents = list(yaml.safe_load_all(path.read_text()))
    ours = [d for d in documents if d["apiVersion"].startswith("paimon-operator.dev/")]
    assert ours or all(d["apiVersion"].startswith("rbac.") for d in documents)
    for document in ours:
        document["metadata"].setdefault("name", "generated")  # the API server sets it from generateName
    assert all(accepted_by_model(document) and accepted_by_schema(document) for document in ours)


VALID = [
    keyed_table(),
    append_table(),
    catalog(),
    run(),
    widest_tables.aggregating(),
    widest_tables.grouped(),
    widest_tables.defaulting(),
]


@pytest.mark.parametrize(
    "manifest", VALID, ids=lambda manifest: f"{manifest['kind']} {manifest['metadata']['name'][:9]}"
)
def test_model_and_schema_accept_valid_manifests(manifest: dict[str, Any]) -> None:
    assert accepted_by_model(manifest)
    assert accepted_by_schema(manifest)


@pytest.mark.parametrize("wrong", WRONG_MANIFESTS, ids=lambda wrong: wrong.name)
def test_model_and_schema_agree_about_wrong_manifests(wrong: WrongManifest) -> None:
    manifest = copy.deepcopy(wrong.manifest)
    manifest["metadata"]["name"] = "a-valid-name"  # the operator does not validate names again
    assert accepted_by_model(manifest) == accepted_by_schema(manifest)


def test_every_option_with_a_typed_field_names_a_field_that_exists() -> None:
    fields = {path.replace("[]", "") for path, _ in nodes(schema_of("PaimonTable"))}
    assert {field for field in OPTION_FIELDS.values() if f".{field}" not in fields} == set()


def test_no_option_is_refused_for_two_reasons() -> None:
    keys = [*OPTION_FIELDS, *RESERVED_OPTIONS]
    assert len(keys) == len(set(keys))
    assert [key for key in keys if re.search(RESERVED_WORDS, key)] == []
    assert [key for key in RESERVED_OPTIONS if key.startswith(RESERVED_PREFIXES)] == []
    (family,) = [each["rule"] for each in OPTION_RULES if "reads, storage or the operator" in each["message"]]
    assert all(f"'{key}'" in family for key in OPTION_FIELDS), "the rule about families leaves these out"


def test_no_rule_reads_a_block_twice_to_see_whether_it_is_there() -> None:
    """The API server copies all properties of an object at each read of one. `self.?block.?member` reads it once.

    Most of what a write of a PaimonTable costs the API server are these reads (docs/benchmarks.md).
    """
    twice = re.compile(r"has\((self\.\w+)\) && has\(\1\.")
    rules = [
        each["rule"] for _, node in nodes(schema_of("PaimonTable")) for each in node.get("x-kubernetes-validations", [])
    ]
    assert [rule for rule in rules if twice.search(rule)] == []


OF_EVERY_TABLE = ("", ".spec", ".spec.schema", ".spec.schema.columns[]")
"""Objects that every table has. Their rules cost something at each write of its spec and of its status."""
OVER_COLUMNS = "self.columns.all(c, !has(c.renamedFrom) || c.renamedFrom != c.name)"
"""It reads the properties of each column, wherever it stands."""


def test_a_rule_that_every_table_pays_for_and_that_reads_one_text_or_list_stands_at_that_field() -> None:
    """As a rule of the object it would copy all properties of the object, in `columns` once for each column."""
    table = dict(nodes(schema_of("PaimonTable")))
    rules = [each["rule"] for path in OF_EVERY_TABLE for each in table[path].get("x-kubernetes-validations", [])]
    misplaced = [rule for rule in rules if "oldSelf" not in rule and len(_fields_read(rule)) == 1]
    assert misplaced == [OVER_COLUMNS]


def _fields_read(expression: str) -> set[str]:
    return set(re.findall(r"\bself\.\??(\w+)", expression))


OF_THE_OBJECT_ITSELF = {
    "catalogRef must not change: create another PaimonTable",
    "exactly one of s3, hdfs, claim must be set",
    "spec must not change: make a new PaimonRun",
    "must be at most 256 KiB as JSON: shorten comments, types and options, or split the table",
}
"""Rules about an object without a member to blame. The API server names the object's own path."""


@every_resource
def test_a_rule_without_a_field_path_is_about_the_value_itself(resource: ResourceDefinition) -> None:
    """The API server names the path of the value then. No fieldPath can name a key of a map."""
    for path, node in nodes(schema_of(resource.kind)):
        for validation in node.get("x-kubernetes-validations", []):
            if "fieldPath" not in validation and validation["message"] not in OF_THE_OBJECT_ITSELF:
                blamed = node["type"] != "object" or "additionalProperties" in node
                assert blamed, f"{path}: {validation['message']}"
