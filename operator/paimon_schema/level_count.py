"""The number of levels of a table with primary keys, which must not become smaller.

By default it is one more than the option that starts compactions (CoreOptions.numLevels). Paimon keeps the files that
are in a higher level, but takes the highest of the new levels for the highest one. There it merges rows without those
above. With FirstRow a key is shown twice. With deletion vectors or the changelog producer Lookup older values are lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from paimon_schema.option_changes import OptionRules
from paimon_schema.steps import Refusal, Step
from paimon_schema.table_schema import TableSchema

LEVELS: Final = "num-levels"
TRIGGER: Final = "num-sorted-run.compaction-trigger"
_DEFAULT_TRIGGER: Final = "5"
"""Of every engine."""


def number_of_levels(options: Mapping[str, str]) -> int:
    """The number of levels of a table with these options; 0 for what is no number."""
    return _levels_by(options, options.get(TRIGGER, _DEFAULT_TRIGGER)) or 0


def fewer_levels(table: TableSchema, steps: Iterable[Step], rules: OptionRules) -> Iterator[Refusal]:
    """Refuses steps that leave the table with fewer levels."""
    if not table.primary_keys:
        return
    before = rules.canonical(table.options)
    changes = {rules.present_name(step.option): step.after for step in steps if step.option is not None}
    after = {name: value for name, value in (before | changes).items() if value is not None}
    has, wants = _levels(before, rules), _levels(after, rules)
    if has is None or wants is None or wants >= has:
        return
    name = LEVELS if LEVELS in changes else TRIGGER
    problem = (
        f"option {name}: the table would have {wants} levels instead of {has}, "
        "and Paimon would not merge new rows with those in the highest one"
    )
    yield Refusal(f"spec.options[{name}]", problem, f'Set spec.options[{LEVELS}] to "{has}" or more.')


def _levels(options: Mapping[str, str], rules: OptionRules) -> int | None:
    return _levels_by(options, options.get(TRIGGER, rules.default_of(TRIGGER) or ""))


def _levels_by(options: Mapping[str, str], trigger: str) -> int | None:
    """None for what is no number: other rules refuse it."""
    try:
        return int(options[LEVELS]) if LEVELS in options else int(trigger) + 1
    except ValueError:
        return None
