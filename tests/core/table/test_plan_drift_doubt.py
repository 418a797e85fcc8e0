"""A change by somebody else that puts the table in doubt: a run verifies it, and it never stands still for ever."""

from __future__ import annotations

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from tests.core.table.drifting import HOUR, OBSERVE, PROVISION, REFUSED, Json, drift, found, look, ready
from tests.support import builders
from tests.support.table_world import TableWorld

BUCKET: Json = {"change": "OptionChanged", "field": "bucket", "before": "2", "after": "4"}


def with_illegal_edit() -> TableWorld:
    """A table whose manifest was edited to something that a run has refused."""
    seen = ready()
    seen.edit(schema=builders.ORDERS | {"comment": "all"})
    seen.settle()
    seen.fail(FailureClass.SPEC, Reason.TABLE_DIFFERS, "the table shop.orders differs")
    seen.settle()
    assert seen.table.status.active_run is None
    seen.created.clear()
    return seen


def test_a_change_that_puts_a_table_with_a_refused_edit_in_doubt_starts_a_verification() -> None:
    seen = with_illegal_edit()
    look(seen, 1, BUCKET, refused=REFUSED)
    assert seen.started == [OBSERVE, PROVISION]
    seen.fail(FailureClass.SPEC, Reason.TABLE_DIFFERS, "the table shop.orders differs", **found(1, BUCKET))
    seen.settle()
    assert seen.table.status.active_run is None, "once, and then every hour"
    seen.wait(minutes=90)
    seen.settle()
    assert seen.started[2:] == [PROVISION]


def test_a_run_that_puts_a_table_with_a_refused_edit_in_doubt_starts_a_verification() -> None:
    seen = with_illegal_edit()
    seen.wait(hours=2)
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.TABLE_NOT_FOUND)
    seen.settle()
    assert seen.started == [OBSERVE, PROVISION]
