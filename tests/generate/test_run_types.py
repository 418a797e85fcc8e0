"""The chart's list of run types."""

from __future__ import annotations

from pathlib import Path

import yaml

from paimon_operator.core.operations.registry import OPERATIONS
from paimon_operator.generate.run_types import chart_values

FILE = Path(__file__).parents[2] / "charts" / "paimon-operator" / "files" / "run-types.yaml"


def test_the_committed_list_equals_the_generated_one() -> None:
    assert FILE.read_text() == chart_values(OPERATIONS), "run `make generate`"


def test_the_list_has_every_type_in_the_order_of_the_operations() -> None:
    assert yaml.safe_load(FILE.read_text()) == {
        "types": [
            "Provision",
            "Rescale",
            "Write",
            "ExpirePartitions",
            "MarkPartitionsDone",
            "Compact",
            "ExpireSnapshots",
            "CompactManifests",
            "Analyze",
            "RemoveOrphanFiles",
            "Observe",
            "Describe",
            "Drop",
        ],
        "onDemand": [
            "ExpirePartitions",
            "MarkPartitionsDone",
            "Compact",
            "ExpireSnapshots",
            "CompactManifests",
            "Analyze",
            "RemoveOrphanFiles",
            "Observe",
            "Describe",
        ],
    }
