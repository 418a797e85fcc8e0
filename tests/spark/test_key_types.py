"""Types of keys: a key of each admitted type keeps the rows of its table, and no other type is admitted."""

from __future__ import annotations

from typing import Any

import pytest

from tests.spark.lake import Lake
from tests.spark.manifest_trial import tried
from tests.support import builders
from tests.support.generated_manifests.domain import NESTED, PLAIN
from tests.support.generated_manifests.kept import judge


def spec_of(place: str, type_: str) -> dict[str, Any]:
    """A table with a column `k` of the type in this place."""
    columns = [{"name": "k", "type": type_}, {"name": "id", "type": "BIGINT"}, {"name": "v", "type": "INT"}]
    places: dict[str, dict[str, Any]] = {
        "primary key": {"schema": {"columns": columns, "primaryKeys": ["k"]}},
        "partition key": {"schema": {"columns": columns, "partitionKeys": ["k"]}},
        "partition of keys": {"schema": {"columns": columns, "primaryKeys": ["k", "id"], "partitionKeys": ["k"]}},
        "bucket key": {
            "schema": {"columns": columns},
            "bucket": {"type": "Fixed", "fixed": {"count": 2, "keys": ["k"]}},
        },
        "sequence": {"schema": {"columns": columns, "primaryKeys": ["id"]}, "sequence": {"fields": ["k"]}},
    }
    return places[place]


@pytest.mark.engines_in_turn("place")
@pytest.mark.parametrize(
    "place",
    [
        "primary key",
        "partition of keys",
        pytest.param("sequence", marks=pytest.mark.long),
        pytest.param("partition key", marks=pytest.mark.long),
        pytest.param("bucket key", marks=pytest.mark.long),
    ],
)
def test_a_key_is_of_a_type_that_paimon_keeps(lake: Lake, place: str) -> None:
    """Nested sequences are refused because pypaimon refuses to read them."""
    wrong = []
    for number, type_ in enumerate((*PLAIN, *NESTED) if place != "sequence" else PLAIN):
        manifest = builders.table_manifest(**spec_of(place, type_))
        judged = judge(manifest, lake.engine.id)
        assert judged.context is not None
        problems = tried(lake, number, judged.context)
        if bool(problems) != bool(judged.errors):
            wrong.append((type_, judged.field, problems))
    assert wrong == []
