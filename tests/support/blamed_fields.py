"""The fields of a manifest that the operator refuses, by the models and by its rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from pydantic import ValidationError

from paimon_operator.api.base import ApiModel
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core.operations.registry import OPERATIONS
from paimon_operator.core.operations.run_problems import run_problems
from paimon_operator.core.run.waits import refused_by_type
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.validation.catalog import catalog_problems
from paimon_operator.core.validation.table import broken_rules
from tests.support import builders
from tests.support.manifests import Manifest

MODELS: Final[dict[str, type[ApiModel]]] = {
    "PaimonTable": PaimonTable, "PaimonCatalog": PaimonCatalog, "PaimonRun": PaimonRun
}  # fmt: skip


def fields_blamed(manifest: Manifest, **facts_: Any) -> list[str]:
    """Paths of the fields that the model or the rules of the operator refuse. `facts_` are those of the operator."""
    try:
        resource = read(manifest)
    except ValidationError as error:
        return [_path_of(problem["loc"]) for problem in error.errors()]
    facts = builders.operator_facts(**facts_)
    match resource:
        case PaimonTable():
            context = TableContext.build(resource, builders.catalog(), facts, builders.NOW)
            return [error.field for error in broken_rules(context)]
        case PaimonCatalog():
            return [error.field for error in catalog_problems(resource, facts)]
        case PaimonRun():
            ended = refused_by_type(resource, builders.NOW)
            refused = [str(ended.status.field)] if ended is not None else []
            return refused + [error.field for error in run_problems(resource)]
    raise AssertionError(f"no rules for {manifest['kind']}")


def read(manifest: Manifest) -> ApiModel:
    """Reads a manifest of one of the three kinds. Raises ValidationError."""
    if manifest["kind"] == "PaimonRun":
        return OPERATIONS.read_run(manifest)
    return MODELS[manifest["kind"]].model_validate(manifest)


def _path_of(location: Iterable[str | int]) -> str:
    """pydantic's location as a path: `spec.schema.columns[2].name`."""
    steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in location]
    return "".join(steps).removeprefix(".")
