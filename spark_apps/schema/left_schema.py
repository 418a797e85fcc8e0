"""Which of a table's schemas a run has left: others may alter the table while the run works, and after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from paimon_schema.drift import DriftChange, difference
from paimon_schema.drift_composition import compose
from paimon_schema.table_schema import TableSchema
from spark_apps.schema.alter import APPLYING_OPTION, Alteration
from spark_apps.schema.drift_at_provision import DriftAtProvision
from spark_apps.schema.edit import alteration_of


@dataclass(frozen=True)
class LeftSchema:
    """The schema of the last commit of a run. `meanwhile` is what others had changed since the run began."""

    schema: TableSchema
    meanwhile: tuple[DriftChange, ...] = ()


def left_schema(drift: DriftAtProvision, altered: Alteration, marks: Mapping[str, str]) -> LeftSchema:
    """The schema that a run has left which has altered the table so, with its own options `marks`."""
    start, own = drift.drift.latest, len(altered.commits(marks))
    written = _written_since(drift, start) if own else []
    if len(written) <= own:
        return LeftSchema(written[-1] if written else start)
    # A schema names nobody: the run's last one is the first that leaves it nothing to do.
    done = (at for at, each in enumerate(written) if not alteration_of(drift, drift.possible_in(each)).commits(marks))
    last = next(done, own - 1)
    return LeftSchema(written[last], _by_others(drift, [start, *written[: last + 1]]))


def _written_since(drift: DriftAtProvision, start: TableSchema) -> list[TableSchema]:
    latest = drift.schemas.latest_schema(start.id)
    ids = () if latest is None else range(start.id + 1, latest.id + 1)
    return [each for each in map(drift.schemas.schema, ids) if each is not None]


def _by_others(drift: DriftAtProvision, schemas: list[TableSchema]) -> tuple[DriftChange, ...]:
    """What others changed between the first schema and the last one, which is the run's, and what is left of it."""
    found: tuple[DriftChange, ...] = ()
    for before, after in pairwise(schemas[:-1]):
        if APPLYING_OPTION in before.options or APPLYING_OPTION not in after.options:
            found = compose(found, difference(before, after, drift.engine))
    there = {(each.key, each.after) for each in difference(schemas[0], schemas[-1], drift.engine)}
    return tuple(each for each in found if (each.key, each.after) in there)
