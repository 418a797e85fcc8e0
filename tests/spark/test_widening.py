"""Every widening that a plan accepts, in every file format: Spark and pypaimon read rows of before and after it alike.

Each widened column stands beside one that had the wider type from the start, with the same values.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from paimon_engines.engine import Engine
from paimon_engines.loader import load_engine
from paimon_schema.type_parser import parse
from paimon_schema.widening import widening_problem
from tests.spark.lake import Lake
from tools.engines.widening_pairs import Widening, extremes, lossless, widened
from tools.engines.widening_probe import FORMATS

LEAST_WIDENINGS = 40
"""Every engine has more than these."""
OLD, NEW = 0, 10
"""First key of the rows of before, and of those of after."""


@pytest.mark.engines_in_turn("file_format")
@pytest.mark.parametrize("file_format", FORMATS)
def test_rows_of_before_and_after_a_widening_are_read_right(lake: Lake, file_format: str) -> None:
    widenings = accepted(load_engine(lake.engine.id), file_format)
    assert len(widenings) > LEAST_WIDENINGS
    provision(lake, file_format, [(each.before, each.after) for each in widenings])
    insert(lake, OLD, [extremes(each.before) for each in widenings], [old_values(each) for each in widenings])

    provision(lake, file_format, [(each.after, each.after) for each in widenings])

    insert(lake, NEW, *[[extremes(each.after) for each in widenings]] * 2)
    check(lake, widenings)
    lake.compact().ok()
    check(lake, widenings)


def test_a_longer_char_is_refused(lake: Lake) -> None:
    """Spark fills old values up with blanks when it reads, and pypaimon does not."""
    columns, options = {"id": "INT", "v": "CHAR(3)"}, {"bucket": "1"}
    lake.provision(columns, keys=["id"], options=options).ok()

    message = lake.provision(columns | {"v": "CHAR(5)"}, keys=["id"], options=options).refused("TableDiffers")

    assert "CHAR(5) does not hold every value of CHAR(3)" in message


def accepted(engine: Engine, file_format: str) -> list[Widening]:
    """The pairs that the plan accepts for the engine and a table of the format."""
    types = ((each, parse(each.before), parse(each.after)) for each in lossless())
    return [each for each, before, after in types if widening_problem(before, after, engine, [file_format]) is None]


def provision(lake: Lake, file_format: str, types: Iterable[tuple[str, str]]) -> None:
    """Creates the table, or alters it; `types`: those of each pair of columns."""
    columns = {"id": "INT"}
    for number, (narrow, wide) in enumerate(types):
        columns |= {f"widened_{number}": narrow, f"wide_{number}": wide}
    lake.provision(columns, keys=["id"], options={"bucket": "1", "file.format": file_format}).ok()


def old_values(widening: Widening) -> list[str]:
    """SQL of the extreme values of the type before, as the type after."""
    return [widened(widening, value) for value in extremes(widening.before)]


def insert(lake: Lake, first: int, narrow: Iterable[Iterable[str]], wide: Iterable[Iterable[str]]) -> None:
    """Writes a row per value of the columns, numbered from `first`."""
    pairs = [column for pair in zip(narrow, wide, strict=True) for column in pair]
    rows = (f"SELECT {first + number}, {', '.join(row)}" for number, row in enumerate(zip(*pairs, strict=True)))
    lake.outside("INSERT INTO outside.shop.orders " + " UNION ALL ".join(rows))


def check(lake: Lake, widenings: list[Widening]) -> None:
    """All rows, by both readers."""
    rows = lake.rows()
    assert [row["id"] for row in rows] == [*range(OLD, OLD + 3), *range(NEW, NEW + 3)]
    assert different(rows, widenings) == []
    equal = " AND ".join(f"widened_{n} = wide_{n}" for n in range(len(widenings)))
    lake.outside(f"SELECT assert_true(count(*) = 6 AND bool_and({equal})) FROM outside.shop.orders")  # noqa: S608


def different(rows: list[dict[str, Any]], widenings: list[Widening]) -> list[tuple[Widening, Any, Any]]:
    """Widened columns that have another value than the column that was wide from the start."""
    return [
        (each, row[f"widened_{number}"], row[f"wide_{number}"])
        for row in rows
        for number, each in enumerate(widenings)
        if row[f"widened_{number}"] != row[f"wide_{number}"] or row[f"wide_{number}"] is None
    ]
