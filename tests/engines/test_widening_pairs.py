"""The widenings that the probe tries, and the values that it writes."""

from __future__ import annotations

import pytest

from paimon_schema.data_types import not_writable
from paimon_schema.type_parser import parse
from tools.engines.widening_pairs import Widening, extremes, lossless, widened

TIMES = ("1900-01-01 00:00:00", "1969-12-31 23:59:58", "9999-12-31 23:59:59")


@pytest.mark.parametrize(
    ("data_type", "values"),
    [
        ("TINYINT", ("CAST('-128' AS TINYINT)", "CAST('-1' AS TINYINT)", "CAST('127' AS TINYINT)")),
        ("DECIMAL(4, 2)", [f"CAST('{v}' AS DECIMAL(4, 2))" for v in ("-99.99", "-0.01", "99.99")]),
        ("DECIMAL(3, 0)", [f"CAST('{v}' AS DECIMAL(3, 0))" for v in ("-999", "-1", "999")]),
        ("CHAR(2)", ("'aa'", "'nn'", "'ßß'")),
        ("VARBINARY(2)", ("X''", "X'7f7f'", "X'ffff'")),
        ("TIMESTAMP(0)", [f"TIMESTAMP_NTZ'{v}'" for v in TIMES]),
        ("TIMESTAMP_LTZ(3)", [f"TIMESTAMP'{v}.987'" for v in TIMES]),
    ],
)
def test_the_values_of_a_type_are_its_extremes(data_type: str, values: list[str]) -> None:
    assert extremes(data_type) == tuple(values)


def test_a_value_of_before_is_cast_unless_both_types_are_one_to_spark() -> None:
    assert widened(Widening("INT", "BIGINT"), "1") == "CAST(1 AS BIGINT)"
    assert widened(Widening("CHAR(3)", "CHAR(5)"), "'abc'") == "rpad('abc', 5, ' ')"
    assert widened(Widening("VARCHAR(3)", "STRING"), "'abc'") == "'abc'"
    assert widened(Widening("TIMESTAMP(3)", "TIMESTAMP(6)"), "t") == "t"


def test_every_pair_is_of_types_that_spark_can_write() -> None:
    assert [each for each in lossless() if not_writable(parse(each.before)) or not_writable(parse(each.after))] == []


def test_no_decimal_loses_digits_on_either_side_of_its_point() -> None:
    decimals = [(parse(each.before).args, parse(each.after).args) for each in lossless() if each.roots[0] == "DECIMAL"]
    assert decimals
    assert all(ap - as_ >= bp - bs and as_ >= bs for (bp, bs), (ap, as_) in decimals)
