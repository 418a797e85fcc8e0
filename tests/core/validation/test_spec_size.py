"""A spec of more than 256 KiB is refused in reconcile too, with its size, its largest part and the limit."""

from __future__ import annotations

import pytest

from paimon_operator.api.base import MAX_SPEC_BYTES
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core.operations.registry import OPERATIONS
from paimon_operator.core.operations.run_problems import run_problems
from paimon_operator.core.validation.catalog import catalog_problems
from paimon_operator.core.validation.table import broken_rules
from paimon_operator.errors import SpecError
from tests.support import builders
from tests.support.manifests import Manifest, append_table, catalog
from tests.support.sized_specs import SHAPES, of_size, size_of

FACTS = builders.operator_facts()


def too_large(manifest: Manifest) -> list[SpecError]:
    """The errors about the size."""
    match manifest["kind"]:
        case "PaimonTable":
            table = PaimonTable.model_validate(manifest)
            found = [*broken_rules(builders.context(table, builders.catalog()))]
        case "PaimonCatalog":
            found = [*catalog_problems(PaimonCatalog.model_validate(manifest), FACTS)]
        case _:
            found = [*run_problems(OPERATIONS.read_run(manifest))]
    return [error for error in found if error.reason == "SpecTooLarge"]


def with_affinity(size: int) -> Manifest:
    """A catalog whose podOverlay has so many bytes that the API server cannot count."""
    return catalog(spec__spark={"podOverlay": {"affinity": {"nodeAffinity": "x" * size}}})


def with_quotes(count: int) -> Manifest:
    """A table with comments of `count` characters, each of which JSON writes as six."""
    columns = [{"name": f"c{number}", "type": "INT", "comment": "\x01" * count} for number in range(100)]
    return append_table(spec__schema__columns=columns)


LARGE = [
    *((shape, of_size(make, MAX_SPEC_BYTES + 1)) for shape, make in SHAPES.items()),
    ("affinity of a catalog", with_affinity(MAX_SPEC_BYTES)),
    ("characters that JSON escapes", with_quotes(500)),
]


@pytest.mark.parametrize("manifest", [each for _, each in LARGE], ids=[name for name, _ in LARGE])
def test_a_spec_that_is_too_large_is_refused_with_its_size_and_its_largest_part(manifest: Manifest) -> None:
    (error,) = too_large(manifest)
    parts = {name: size_of({"spec": value}) for name, value in manifest["spec"].items()}
    largest = max(parts, key=lambda name: parts[name])
    assert error.field == "spec"
    assert f"of them in {largest}; at most 256.0 KiB are allowed" in error.problem


def test_the_message_has_the_size_as_json_writes_it() -> None:
    (error,) = too_large(with_affinity(300 * 1024))
    assert error.problem.startswith("the spec has 300.3 KiB as JSON, 300.0 KiB of them in spark")


SMALL = [
    *((shape, of_size(make, MAX_SPEC_BYTES - 4096)) for shape, make in SHAPES.items()),
    ("affinity of a catalog", with_affinity(MAX_SPEC_BYTES - 1024)),
    ("characters that JSON escapes", with_quotes(400)),
]


@pytest.mark.parametrize("manifest", [each for _, each in SMALL], ids=[name for name, _ in SMALL])
def test_a_spec_within_the_limit_is_not_refused_for_its_size(manifest: Manifest) -> None:
    assert too_large(manifest) == []
