"""What the observer has found of a table, in the table's status: it is written only where a value changes."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.base import to_the_second
from paimon_operator.api.measure import Measure
from paimon_operator.api.table.facts import Health, TableFacts
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core import backoff
from paimon_operator.core.operations.verification import is_established
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.identity import table_name
from paimon_operator.core.spec.look import Look
from paimon_operator.core.table.measures import file_facts, health_of

_NOT_MEASURED: Final = ("observed_at", "in_doubt_since", "unread", "pins", "pins_count")
"""Fields of the health that an observer does not report."""


def with_look(context: TableContext, status: TableStatus) -> TableStatus:
    """The status after the last look, if it is newer than the stored measurement and the table is established.

    The schema and the number of buckets stay as runs have found them: decisions about schema changes depend on them.
    """
    look = context.look
    if look is None or not is_established(context, status) or backoff.is_ahead(look.looked_at, context.now):
        return status
    if look.measure is None:
        return _unread(status, look.unknown)
    if not _is_newer(look, status.health):
        return status
    found = _health(look, look.measure, status.health)
    facts = _facts(context, status.table, look.measure)
    if facts == status.table and _is_same(found, status.health):
        return status
    return status.model_copy(update={"health": found, "table": facts})


def _unread(status: TableStatus, why: str | None) -> TableStatus:
    """The words may change with each look, so the first ones stay."""
    health = status.health or Health()
    if health.unread is not None:
        return status
    return status.model_copy(update={"health": health.model_copy(update={"unread": why or "no reason was given"})})


def _is_newer(look: Look, health: Health | None) -> bool:
    if health is None:
        return True
    before = [each for each in (health.observed_at, health.in_doubt_since) if each is not None]
    return all(look.looked_at > each for each in before)


def _health(look: Look, measure: Measure, known: Health | None) -> Health:
    """What keeps data files is read by runs alone."""
    found = health_of(measure, to_the_second(look.looked_at))
    if known is None:
        return found
    return found.model_copy(update={"pins": known.pins, "pins_count": known.pins_count})


def _is_same(found: Health, known: Health | None) -> bool:
    if known is None or known.in_doubt_since is not None or known.unread is not None:
        return False
    nothing = dict.fromkeys(_NOT_MEASURED)
    return found.model_copy(update=nothing) == known.model_copy(update=nothing)


def _facts(context: TableContext, known: TableFacts | None, measure: Measure) -> TableFacts:
    base = known or TableFacts(identifier=f"{context.spec.database}.{table_name(context.table)}")
    return base.model_copy(update=file_facts(measure))
