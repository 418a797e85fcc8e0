"""Spark's parser reads back exactly the quoted name or value, whatever characters it has."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spark_apps.sql.identifiers import call, literal, qualified, quote
from tests.support.spark_process import Worker

pytestmark = pytest.mark.newest_engine

NASTY = ["`", "``", "a`b", "a.b", "'; DROP TABLE x --", "\\", "\\'", "\n", "\x00", "${x}", "🐟", '"', "/*", "%"]
TEXT = st.one_of(st.sampled_from(NASTY), st.text(max_size=40))
NAMES = TEXT.filter(bool)

with_spark = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@with_spark
@given(parts=st.lists(NAMES, min_size=1, max_size=3))
def test_a_quoted_identifier_is_read_back_part_by_part(worker: Worker, parts: list[str]) -> None:
    assert worker.ask(identifier=qualified(*parts)) == parts


@with_spark
@given(value=TEXT)
def test_a_literal_is_read_back_as_the_same_value(worker: Worker, value: str) -> None:
    assert worker.ask(literal=literal(value)) == value


@given(name=NAMES)
def test_a_quoted_name_contains_no_unescaped_quote(name: str) -> None:
    assert quote(name)[1:-1].replace("``", "").count("`") == 0


def test_a_call_names_its_arguments_and_omits_missing_ones() -> None:
    text = call("compact", {"table": "shop.o'rders", "where": None, "max_deletes": 5, "dry_run": True})

    assert text == "CALL `paimon`.`sys`.`compact`(`table` => 'shop.o\\'rders', `max_deletes` => 5, `dry_run` => true)"
