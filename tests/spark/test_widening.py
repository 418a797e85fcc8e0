"""Every widening of the engine's data, in every file format: pypaimon reads rows of before and after it alike.

Each widened column stands beside one that had the wider type from the start, with the same values.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from paimon_engines.loader import load_engine
from tests.spark.lake import Lake
from tools.engines.widening_pairs import Widening, extremes, lossless, widened
from tools.engines.widening_probe import FORMATS

LEAST_WIDENINGS = 40
"""Every engine has more than these, in every format."""


@pytest.mark.parametrize("file_format", FORMATS)
def test_rows_of_before_and_after_a_widening_are_read_right(lake: Lake, file_format: str) -> None:
    engine = load_engine(lake.engine.id)
    widenings = [each for each in lossless() if file_format in engine.widening_formats(*each.roots)]
    assert len(widenings) > LEAST_WIDENINGS
    narrow = {f"widened_{number}": each.before for number, each in enumerate(widenings)}
    wide = {f"wide_{number}": each.after for number, each in enumerate(widenings)}
    options = {"bucket": "1", "file.format": file_format}
    lake.provision({"id": "INT", **narrow, **wide}, keys=["id"], options=options).ok()

    insert(lake, 0, [extremes(each.before) for each in widenings], [old_values(each) for each in widenings])
    lake.retype({f"widened_{number}": each.after for number, each in enumerate(widenings)})
    insert(lake, 10, *[[extremes(each.after) for each in widenings]] * 2)

    rows = lake.rows()
    lake.compact().ok()
    compacted = lake.rows()

    assert [row["id"] for row in rows] == [0, 1, 2, 10, 11, 12]
    assert different(rows, widenings) == []
    assert compacted == rows


def old_values(widening: Widening) -> list[str]:
    """SQL of the extreme values of the type before, as the type after."""
    return [widened(widening, value) for value in extremes(widening.before)]


def insert(lake: Lake, first: int, narrow: Iterable[Iterable[str]], wide: Iterable[Iterable[str]]) -> None:
    """Writes a row per value of the columns, numbered from `first`."""
    rows = (f"SELECT {first + number}, {', '.join(row)}" for number, row in enumerate(zip(*narrow, *wide, strict=True)))
    lake.outside("INSERT INTO outside.shop.orders " + " UNION ALL ".join(rows))


def different(rows: list[dict[str, Any]], widenings: list[Widening]) -> list[tuple[Widening, Any, Any]]:
    """Widened columns that have another value than the column that was wide from the start."""
    return [
        (each, row[f"widened_{number}"], row[f"wide_{number}"])
        for row in rows
        for number, each in enumerate(widenings)
        if row[f"widened_{number}"] != row[f"wide_{number}"] or row[f"wide_{number}"] is None
    ]
