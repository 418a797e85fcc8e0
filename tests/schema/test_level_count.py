"""An edit that leaves a table with fewer levels is refused, because Paimon would not merge all rows any more."""

from __future__ import annotations

import pytest

from paimon_engines.engine import Engine
from paimon_engines.loader import load_engines
from paimon_schema.level_count import number_of_levels
from paimon_schema.plan import make_plan
from paimon_schema.uses import MANAGED_OPTION
from tests.schema.schemas import declared, table

COLUMNS = "id BIGINT NOT NULL; note STRING"
LEVELS, TRIGGER = "num-levels", "num-sorted-run.compaction-trigger"


@pytest.mark.parametrize("engine", load_engines().values(), ids=lambda engine: engine.id)
@pytest.mark.parametrize(
    ("sentence", "has", "wants", "refused"),
    [
        ("fewer levels", {LEVELS: "6"}, {LEVELS: "5"}, LEVELS),
        ("fewer than by default", {}, {LEVELS: "5"}, LEVELS),
        ("a smaller trigger, which they follow", {TRIGGER: "8"}, {TRIGGER: "7"}, TRIGGER),
        ("a smaller trigger than by default", {}, {TRIGGER: "4"}, TRIGGER),
        ("a smaller trigger with as many levels", {}, {TRIGGER: "4", LEVELS: "6"}, None),
        ("a smaller trigger of a table with levels of its own", {LEVELS: "6"}, {TRIGGER: "2", LEVELS: "6"}, None),
        ("more levels", {}, {LEVELS: "7"}, None),
        ("a larger trigger", {}, {TRIGGER: "9"}, None),
        ("a larger trigger with fewer levels", {TRIGGER: "5"}, {TRIGGER: "9", LEVELS: "5"}, LEVELS),
        ("the manifest does not set them any more", {LEVELS: "8", MANAGED_OPTION: LEVELS}, {}, LEVELS),
        ("another option", {TRIGGER: "3"}, {TRIGGER: "3", "target-file-size": "1 gb"}, None),
        ("what is no number is left to the rules of options", {}, {LEVELS: "few"}, None),
    ],
)
def test_the_number_of_levels_never_becomes_smaller(
    engine: Engine, sentence: str, has: dict[str, str], wants: dict[str, str], refused: str | None
) -> None:
    found = make_plan(table(COLUMNS, "id", **has), declared(COLUMNS, "id", options=wants), engine)
    assert [each.field for each in found.refusals] == ([] if refused is None else [f"spec.options[{refused}]"]), (
        sentence
    )


def test_the_refusal_says_how_to_get_the_trigger_all_the_same() -> None:
    engine = next(iter(load_engines().values()))
    (found,) = make_plan(table(COLUMNS, "id"), declared(COLUMNS, "id", options={TRIGGER: "4"}), engine).refusals
    assert found.sentence == (
        "option num-sorted-run.compaction-trigger: the table would have 5 levels instead of 6, "
        "and Paimon would not merge new rows with those in the highest one"
    )
    assert found.remedy == 'Set spec.options[num-levels] to "6" or more.'


def test_a_table_without_primary_keys_has_no_levels() -> None:
    engine = next(iter(load_engines().values()))
    assert not make_plan(table(COLUMNS), declared(COLUMNS, options={LEVELS: "2"}), engine).refusals


@pytest.mark.parametrize("engine", load_engines().values(), ids=lambda engine: engine.id)
@pytest.mark.parametrize(
    ("options", "number"),
    [({}, None), ({TRIGGER: "8"}, 9), ({TRIGGER: "8", LEVELS: "3"}, 3), ({LEVELS: "few"}, 0)],
    ids=["the engine's default", "by the trigger", "its own", "what is no number"],
)
def test_a_table_has_as_many_levels_as_its_options_say(
    engine: Engine, options: dict[str, str], number: int | None
) -> None:
    default = int(engine.options[TRIGGER].default or "") + 1
    assert number_of_levels(options) == (default if number is None else number)
