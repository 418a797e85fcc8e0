"""The changelog after a rescale: it has what is written then, and no row of before once more."""

from __future__ import annotations

from typing import Any, Final

import pytest

from paimon_engines.loader import load_engine
from tests.spark.declared_table import KEYED, ONE_BUCKET, changes_of, create, write
from tests.spark.lake import Lake

ROWS: Final = [{"id": number, "v": number, "op": "+I"} for number in range(1, 9)]
LATER: Final = [{"id": 3, "v": 30, "op": "+U"}, {"id": 100, "v": 1, "op": "+I"}]
WITH_BOTH: Final = ["+I 100 1", "+U 3 30", "-U 3 3"]
CASES: Final[dict[str, tuple[dict[str, Any], list[str]]]] = {
    "input": ({"changelogProducer": {"type": "Input"}}, ["+I 100 1", "+I 3 30"]),
    "lookup": ({"changelogProducer": {"type": "Lookup"}}, WITH_BOTH),
    "full compaction": (
        {"changelogProducer": {"type": "FullCompaction"}, "compaction": {"mode": "Dedicated"}},
        WITH_BOTH,
    ),
}


def rows_in_changelog(lake: Lake) -> int:
    """Rows in the changelog of all snapshots: files that no snapshot names are not read."""
    return sum(each["changelog_record_count"] or 0 for each in lake.read("orders$snapshots"))


def loaded(lake: Lake, producer: dict[str, Any]) -> None:
    """A table with one bucket, whose changelog has each row once."""
    create(lake, schema=KEYED, bucket=ONE_BUCKET, **producer)
    write(lake, ROWS, keyed=True)
    lake.compact().ok()
    assert rows_in_changelog(lake) == len(ROWS)


@pytest.mark.engines_in_turn("case")
@pytest.mark.parametrize("case", CASES)
def test_readers_of_the_changelog_see_no_row_again(lake: Lake, case: str) -> None:
    producer, changes = CASES[case]
    if case == "full compaction" and not load_engine(lake.engine.id).has_argument("rescale", "bucket_num"):
        loaded(lake, producer)
        assert "FullCompaction" in lake.rescale(4).refused("RescaleRefused")
        return
    loaded(lake, producer)

    lake.rescale(4).ok()
    lake.compact().ok()

    assert rows_in_changelog(lake) == len(ROWS)
    assert sorted(changes_of(lake, LATER, compacts=True)) == changes
    assert rows_in_changelog(lake) == len(ROWS) + len(changes)
