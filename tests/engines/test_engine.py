"""The engines' generated data and the questions that both sides ask of it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from paimon_engines.bounds import ValueKind
from paimon_engines.engine import is_older, parse_engines
from tests.support import builders


def test_the_engines_of_the_release_are_read_with_the_newest_last() -> None:
    assert list(builders.engines()) == ["paimon-0.9", "paimon-1.4"]


def test_the_engines_are_listed_in_the_order_of_their_versions_which_their_ids_state() -> None:
    engines = builders.engines()
    assert all(engine.paimon.startswith(name.removeprefix("paimon-") + ".") for name, engine in engines.items())
    assert all(is_older(one, other) for one, other in pairwise(engines))


@pytest.mark.parametrize(
    ("engine", "than", "expected"),
    [
        ("paimon-0.9", "paimon-1.4", True),
        ("paimon-1.4", "paimon-0.9", False),
        ("paimon-1.4", "paimon-1.4", False),
        ("paimon-1.4", "paimon-1.10", True),
    ],
)
def test_engines_are_compared_by_the_version_of_paimon(engine: str, than: str, expected: bool) -> None:
    assert is_older(engine, than) is expected


def test_a_text_that_is_no_id_of_an_engine_is_not_compared() -> None:
    with pytest.raises(ValueError, match=r"is no id of an engine"):
        is_older("spark", "paimon-1.4")


def test_an_engine_without_generated_data_is_left_out() -> None:
    assert parse_engines({"paimon-9.9": {}}, {}) == {}


@pytest.mark.parametrize(("engine", "expected"), [("paimon-0.9", False), ("paimon-1.4", True)])
def test_minor_compaction_is_supported_when_the_procedure_has_its_argument(engine: str, expected: bool) -> None:
    assert builders.engines()[engine].has_minor_compaction is expected


def test_an_argument_is_found_only_in_its_own_procedure() -> None:
    engine = builders.engines()["paimon-1.4"]
    assert engine.has_argument("compact", "table")
    assert not engine.has_argument("compact", "no_such_argument")
    assert not engine.has_argument("no_such_procedure", "table")


def test_an_option_is_found_by_its_fallback_keys() -> None:
    options = builders.engines()["paimon-1.4"].options
    assert options["write.compaction-skip"].key == "write-only"


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("write-only", ValueKind.BOOLEAN),
        ("bucket", ValueKind.INTEGER),
        ("snapshot.time-retained", ValueKind.DURATION),
        ("write-buffer-size", ValueKind.SIZE),
        ("merge-engine", ValueKind.ENUM),
        ("file.format", ValueKind.TEXT),
    ],
)
@pytest.mark.parametrize("engine", ["paimon-0.9", "paimon-1.4"])
def test_an_option_has_the_kind_of_its_value(engine: str, key: str, kind: ValueKind) -> None:
    assert builders.engines()[engine].options[key].kind is kind


@pytest.mark.parametrize(
    ("misspelt", "nearest"),
    [
        ("write-buffer-sise", "write-buffer-size"),
        ("snapshot.num-retained-min", "snapshot.num-retained.min"),
        ("qqqq", None),
    ],
)
def test_a_misspelt_option_has_the_nearest_known_option(misspelt: str, nearest: str | None) -> None:
    assert builders.engines()["paimon-1.4"].nearest_option(misspelt, lambda _: True) == nearest


@pytest.mark.parametrize(
    ("options", "canonical"),
    [
        ({"partial-update.ignore-delete": "true", "first-row.ignore-delete": "false"}, {"ignore-delete": "false"}),
        ({"first-row.ignore-delete": "false", "partial-update.ignore-delete": "true"}, {"ignore-delete": "false"}),
        ({"partial-update.ignore-delete": "true"}, {"ignore-delete": "true"}),
        ({"partial-update.ignore-delete": "true", "ignore-delete": "false"}, {"ignore-delete": "false"}),
        ({"unknown.option": "1", "bucket": "2"}, {"unknown.option": "1", "bucket": "2"}),
    ],
)
def test_options_under_older_names_have_their_present_names(options: dict[str, str], canonical: dict[str, str]) -> None:
    for engine in builders.engines().values():
        assert engine.canonical(options) == canonical


NUMBERS = ("TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL")


@pytest.mark.parametrize("engine", ["paimon-0.9", "paimon-1.4"])
@pytest.mark.parametrize(
    ("before", "after", "is_widening"),
    [
        ("INT", "BIGINT", True),
        ("DECIMAL", "DECIMAL", True),
        ("VARCHAR", "STRING", True),
        ("TIMESTAMP_LTZ", "TIMESTAMP_LTZ", True),
        ("BIGINT", "INT", False),
        ("BIGINT", "DOUBLE", False),
        ("INT", "STRING", False),
        ("DATE", "TIMESTAMP", False),
        ("TIMESTAMP", "TIMESTAMP_LTZ", False),
        ("BOOLEAN", "INT", False),
        ("STRING", "VARCHAR", False),
        ("NO_SUCH_TYPE", "INT", False),
    ],
)
def test_a_widening_has_the_file_formats_in_which_it_loses_nothing(
    engine: str, before: str, after: str, is_widening: bool
) -> None:
    formats = builders.engines()[engine].widening_formats(before, after)
    assert (formats == {"avro", "orc", "parquet"}) is is_widening
    assert bool(formats) is is_widening


@pytest.mark.parametrize(
    ("engine", "formats"), [("paimon-0.9", {"avro", "orc"}), ("paimon-1.4", {"avro", "orc", "parquet"})]
)
def test_a_widening_can_depend_on_the_file_format(engine: str, formats: set[str]) -> None:
    assert builders.engines()[engine].widening_formats("SMALLINT", "BIGINT") == formats


@pytest.mark.parametrize(
    ("formats", "widens"),
    [((), True), (("avro", "orc", "parquet"), True), (("csv",), False), (("avro", "json"), False)],
)
def test_nothing_is_widened_in_a_format_in_which_it_was_not_tried(formats: tuple[str, ...], *, widens: bool) -> None:
    for engine in builders.engines().values():
        assert engine.widens("INT", "BIGINT", formats) is widens


@pytest.mark.parametrize("engine", ["paimon-0.9", "paimon-1.4"])
def test_no_widening_turns_a_number_into_something_else(engine: str) -> None:
    widenings = builders.engines()[engine].widenings
    assert {after for before in NUMBERS for after in widenings.get(before, {})} <= set(NUMBERS)


@pytest.mark.parametrize(
    ("engine", "able", "unable"),
    [
        ("paimon-0.9", {"addColumn", "swapColumns"}, {"addNestedField", "nestedComment", "columnDefault"}),
        ("paimon-1.4", {"addColumn", "swapColumns", "addNestedField", "nestedComment"}, {"renameTwoNestedFields"}),
    ],
)
def test_the_schema_changes_of_an_engine_are_known(engine: str, able: set[str], unable: set[str]) -> None:
    known = builders.engines()[engine].schema_changes
    assert able <= known
    assert not unable & known
