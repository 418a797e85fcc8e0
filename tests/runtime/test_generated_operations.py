"""Whatever edits a table has had, in whatever order: it ends as if its last manifest had been applied at once.

An edit that is undone leaves nothing behind, and a manifest that is applied again costs no write. The seeds are
committed: a sequence that failed is repeated by its number.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest

from tests.runtime.generated_operations import Author, EditedTable, Outcome, is_accepted
from tests.support.random_examples import examples

SEEDS: Final = range(examples(3, most=100))
OPERATIONS: Final = 20
"""Of each sequence: with `make properties` 2,000."""


async def applied_once(spec: Mapping[str, Any]) -> Outcome:
    """The outcome of a table that never had another spec."""
    async with EditedTable() as table:
        return await table.apply(spec)


def refusal(outcome: Outcome) -> Sequence[tuple[str, str, str]]:
    """Why nothing is done. The other conditions also tell what was done before."""
    return [each for each in outcome.conditions if each[0] == "Stalled"]


@pytest.mark.worlds
@pytest.mark.parametrize("seed", SEEDS)
async def test_a_table_ends_as_if_its_last_manifest_had_been_applied_at_once(seed: int) -> None:
    author = Author(random.Random(seed))  # noqa: S311
    async with EditedTable() as table:
        before = await table.apply(author.specs[-1])
        for number in range(1, OPERATIONS + 1):
            at = number, author.next()
            outcome = await table.apply(author.specs[-1])
            assert table.operator.bugs == [], at
            assert table.store.violations == [], at
            assert await table.writes_of_another_look() == [], at
            if is_accepted(author.specs[-1]):
                assert outcome == await applied_once(author.specs[-1]), at
            else:
                assert refusal(outcome) == refusal(await applied_once(author.specs[-1])), at
                if ("Ready", "False", "InvalidSpec") in outcome.conditions:
                    assert outcome.provisioned == before.provisioned, at
            before = outcome
