"""Names of Paimon in the API exist in the engines' generated data."""

from __future__ import annotations

import json
from importlib import resources

from paimon_operator.api.table.columns import AggregateFunction
from paimon_operator.api.table.options import OPTION_FIELDS

NEEDS_A_FIELD_OF_ITS_OWN = {"merge_map_with_keytime"}
"""Functions that need an option for which the API has no field yet."""


def data() -> list[dict[str, dict[str, object]]]:
    """The generated data of every engine."""
    directory = resources.files("paimon_engines")
    return [json.loads(path.read_text()) for path in directory.iterdir() if path.name.endswith(".json")]


def test_the_api_has_the_aggregate_functions_of_the_engines() -> None:
    known = set().union(*(engine["aggregateFunctions"] for engine in data()))
    assert {function.value for function in AggregateFunction} == known - NEEDS_A_FIELD_OF_ITS_OWN


def test_every_option_with_a_typed_field_is_an_option_of_an_engine() -> None:
    known = set().union(*(_keys(engine) for engine in data()))
    assert set(OPTION_FIELDS) - known == {"comment"}  # a table's own property, not one of CoreOptions


def _keys(engine: dict[str, dict[str, object]]) -> set[str]:
    options = engine["options"]
    fallbacks = {
        key for option in options.values() if isinstance(option, dict) for key in option.get("fallbackKeys", [])
    }
    return {*options, *fallbacks}
