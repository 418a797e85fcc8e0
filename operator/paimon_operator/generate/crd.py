"""Generates the CustomResourceDefinitions from the models.

`python -m paimon_operator.generate.crd DIRECTORY` writes them; a test compares with what is committed.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml
from pydantic import BaseModel

from paimon_operator.api.base import GROUP, LABEL, VERSION, ApiModel, Json, with_rules
from paimon_operator.api.catalog.spec import CatalogStatus, PaimonCatalog, PaimonCatalogSpec
from paimon_operator.api.executor_rights import DESCRIPTION, IMMUTABLE, PaimonExecutorRightsSpec
from paimon_operator.api.run.spec import PaimonRun, PaimonRunSpec
from paimon_operator.api.run.status import RunStatus
from paimon_operator.api.table.spec import PaimonTable, PaimonTableSpec
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.naming import EXECUTOR_RIGHTS_PLURAL, PLURALS
from paimon_operator.core.operations import registry
from paimon_operator.core.ports import Kind
from paimon_operator.generate.run_types import run_spec, with_run_types
from paimon_operator.generate.structural import structural


@dataclass(frozen=True)
class PrinterColumn:
    """A column of `kubectl get`; `wide` ones only with `-o wide`."""

    name: str
    path: str
    type: str = "string"
    wide: bool = False

    def to_json(self) -> Json:
        """The column in a CRD."""
        column: Json = {"name": self.name, "type": self.type, "jsonPath": self.path}
        return column | {"priority": 1} if self.wide else column


@dataclass(frozen=True)
class ResourceDefinition:
    """One kind, and what its CRD states besides the schema."""

    kind: str
    short_name: str
    model: type[ApiModel]
    spec: type[BaseModel]
    status: type[BaseModel]
    name_length: int
    columns: tuple[PrinterColumn, ...]

    @property
    def plural(self) -> str:
        """The kind as paths of the API name it."""
        return PLURALS[Kind(self.kind)]


def _condition(name: str, type_: str, part: str = "status", *, wide: bool = False) -> PrinterColumn:
    return PrinterColumn(name, f'.status.conditions[?(@.type=="{type_}")].{part}', wide=wide)


_READY: Final = (_condition("Ready", "Ready"), _condition("Reason", "Ready", "reason"))
_AGE: Final = PrinterColumn("Age", ".metadata.creationTimestamp", "date")

RESOURCES: Final = (
    ResourceDefinition(
        kind="PaimonCatalog",
        short_name="pcat",
        model=PaimonCatalog,
        spec=PaimonCatalogSpec,
        status=CatalogStatus,
        name_length=48,
        columns=(
            *_READY,
            PrinterColumn("Engine", ".status.engine.name"),
            _condition("Safe", "CommitSafe"),
            PrinterColumn("Suspended", ".spec.suspend", "boolean"),
            PrinterColumn("Tables", ".status.tables", "integer"),
            _AGE,
        ),
    ),
    ResourceDefinition(
        kind="PaimonTable",
        short_name="pt",
        model=PaimonTable,
        spec=PaimonTableSpec,
        status=TableStatus,
        name_length=48,
        columns=(
            *_READY,
            PrinterColumn("Table", ".status.table.identifier"),
            _condition("Healthy", "Healthy"),
            PrinterColumn("SortedRuns", ".status.health.sortedRunsMax", "integer"),
            PrinterColumn("Compacted", ".status.compaction.lastTime", "date"),
            PrinterColumn("Catalog", ".spec.catalogRef.name", wide=True),
            PrinterColumn("Engine", ".status.engine", wide=True),
            PrinterColumn("Rows", ".status.table.rows", "integer", wide=True),
            PrinterColumn("Size", ".status.table.size", wide=True),
            PrinterColumn("Snapshot", ".status.table.snapshotId", "integer", wide=True),
            _condition("Message", "Ready", "message", wide=True),
            _AGE,
        ),
    ),
    ResourceDefinition(
        kind="PaimonRun",
        short_name="prun",
        model=PaimonRun,
        spec=PaimonRunSpec,
        status=RunStatus,
        name_length=60,
        columns=(
            PrinterColumn("Table", ".spec.tableRef.name"),
            PrinterColumn("Type", ".spec.type"),
            _condition("Succeeded", "Succeeded"),
            _condition("Reason", "Succeeded", "reason"),
            PrinterColumn("Trigger", ".status.reason.trigger"),
            _AGE,
        ),
    ),
)


def definition(resource: ResourceDefinition) -> Json:
    """The CustomResourceDefinition of a kind."""
    version = {
        "subresources": {"status": {}},
        "additionalPrinterColumns": [column.to_json() for column in resource.columns],
        "schema": {"openAPIV3Schema": _schema(resource)},
    }
    names = {"shortNames": [resource.short_name], "categories": ["paimon"]}
    return _definition(resource.kind, resource.plural, names, version)


def _definition(kind: str, plural: str, names: Json, version: Json) -> Json:
    named = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower(), **names}
    versions = [{"name": VERSION, "served": True, "storage": True, **version}]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Namespaced", "names": named, "versions": versions},
    }


def executor_rights_definition() -> Json:
    """The CustomResourceDefinition of the kind that no user writes and no operator watches: it has no status."""
    schema: Json = {
        "type": "object",
        "description": DESCRIPTION,
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": structural(PaimonExecutorRightsSpec, by_users=True),
        },
        **with_rules(IMMUTABLE),
    }
    columns = [PrinterColumn("Run", ".metadata.ownerReferences[0].name"), _AGE]
    version = {"additionalPrinterColumns": [each.to_json() for each in columns], "schema": {"openAPIV3Schema": schema}}
    return _definition(Kind.EXECUTOR_RIGHTS.value, EXECUTOR_RIGHTS_PLURAL, {}, version)


def _schema(resource: ResourceDefinition) -> Json:
    spec = structural(resource.spec, by_users=True)
    if resource.spec is PaimonRunSpec:
        spec = run_spec(spec, registry.OPERATIONS)
    # The only default of a status: kstatus considers an object without conditions done, unless its observed generation
    # differs from its generation.
    status = structural(resource.status, by_users=False) | {"default": {"observedGeneration": -1}}
    extra = resource.model.model_config.get("json_schema_extra")
    name = {"type": "string", "pattern": LABEL, "maxLength": resource.name_length}
    document: Json = {
        "type": "object",
        "description": " ".join((resource.model.__doc__ or "").split()),
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object", "properties": {"name": name}},
            "spec": spec,
            "status": status,
        },
        **(extra if isinstance(extra, dict) else {}),
    }
    with_types: Json = with_run_types(document, registry.OPERATIONS.types)
    return with_types


def text(crd: Json) -> str:
    """A CustomResourceDefinition as YAML."""
    head = "# Generated from operator/paimon_operator/api by `make generate`; do not edit.\n"
    return head + yaml.dump(crd, Dumper=_PlainDumper, sort_keys=False, width=110)


class _PlainDumper(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002  (YAML anchors are legal and unreadable)
        return True


def definitions() -> list[Json]:
    """The CustomResourceDefinitions of all kinds."""
    return [*map(definition, RESOURCES), executor_rights_definition()]


def write(directory: Path) -> None:
    """Writes the definitions of all kinds into a directory, which is created if needed."""
    directory.mkdir(parents=True, exist_ok=True)
    for each in definitions():
        (directory / f"{GROUP}_{each['spec']['names']['plural']}.yaml").write_text(text(each))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
