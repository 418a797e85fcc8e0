"""The CRDs bound a spec: CEL rules count its large parts, and the schema bounds the rest."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.api.base import SPEC_REST_BYTES
from tests.support.largest_objects import largest
from tests.support.sized_specs import size_of

COUNTED = {
    "PaimonTable": [
        "schema.columns",
        "schema.droppedColumns",
        "mergeEngine.partialUpdate.sequenceGroups",
        "options",
        "writes",
    ],
    "PaimonRun": ["compact.partitions"],
}
"""The parts that `not_larger` counts. tests/apiserver/test_spec_size.py lets each of them grow."""


@pytest.mark.parametrize("kind", COUNTED)
def test_what_the_rule_of_the_size_does_not_count_is_small(kind: str) -> None:
    spec = largest(kind, "spec")
    for path in COUNTED[kind]:
        *above, last = path.split(".")
        part: dict[str, Any] = spec
        for name in above:
            part = part[name]
        del part[last]
    assert 2048 < size_of({"spec": spec}) < SPEC_REST_BYTES
