"""500 manifests by chance, on each engine: Paimon keeps the rows of each one that is accepted, and of no refused one.

A refused manifest whose rows Paimon keeps must break only rules of `tests/support/generated_manifests/deliberate`.
"""

from __future__ import annotations

import pytest

from tests.spark.lake import Lake
from tests.spark.manifest_trial import tried
from tests.support.generated_manifests.deliberate import SHAPES, unexplained
from tests.support.generated_manifests.generator import manifest
from tests.support.generated_manifests.kept import COUNT, judge, kept

PARTS = 50
USUAL = 2
"""So many parts, with ten manifests each, belong to `make test`."""


def part(number: int) -> object:
    return pytest.param(number, marks=() if number < USUAL else pytest.mark.long)


@pytest.mark.engines_in_turn("number")
@pytest.mark.parametrize("number", [part(each) for each in range(PARTS)])
def test_paimon_keeps_the_rows_of_accepted_manifests_and_of_no_refused_one(lake: Lake, number: int) -> None:
    wrong: list[tuple[int, str, object]] = []
    for each in kept()[number:COUNT:PARTS]:
        judged = judge(manifest(each), lake.engine.id)
        if judged.context is None:
            assert judged.field.startswith(tuple(SHAPES)), judged.field
            continue
        problems = tried(lake, each, judged.context)
        if problems and not judged.errors:
            wrong.append((each, "accepted", problems))
        if not problems:
            wrong += [(each, "refused", str(error)) for error in unexplained(judged.errors)]
    assert wrong == []
