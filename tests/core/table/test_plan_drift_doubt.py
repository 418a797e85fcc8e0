"""A change by somebody else that puts the table in doubt: a run verifies it, and it never stands still for ever."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core.operations.verification import state_of
from tests.core.table.drifting import OBSERVE, OPTION, PROVISION, REFUSED, accept, found, look, ready
from tests.core.table.edited_table import Json, refuse
from tests.support import builders
from tests.support.table_world import MEASURE, TableWorld

BUCKET: Json = {"change": "OptionChanged", "field": "bucket", "before": "2", "after": "4"}


def with_illegal_edit() -> TableWorld:
    """A table whose manifest was edited to something that a run has refused."""
    seen = ready()
    seen.edit(schema=builders.ORDERS | {"comment": "all"})
    seen.settle()
    refuse(seen)
    seen.settle()
    assert seen.table.status.active_run is None
    seen.created.clear()
    return seen


def test_a_change_that_puts_a_table_with_a_refused_edit_in_doubt_starts_a_verification() -> None:
    seen = with_illegal_edit()
    look(seen, 1, BUCKET, refused=REFUSED)
    assert seen.started == [OBSERVE, PROVISION]
    refuse(seen, **found(1, BUCKET))
    seen.settle()
    assert seen.table.status.active_run is None, "once, and then every hour"
    seen.wait(minutes=90)
    seen.settle()
    assert seen.started[2:] == [PROVISION]


@pytest.mark.parametrize("table", [ready, with_illegal_edit])
def test_a_look_that_does_not_find_the_table_puts_it_in_doubt(table: Callable[[], TableWorld]) -> None:
    seen = table()
    seen.wait(hours=2)
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.TABLE_NOT_FOUND)
    seen.settle()
    assert seen.started == [OBSERVE, PROVISION]


def rescaled_by_hand() -> TableWorld:
    """A table with onCountChange Rescale and a schedule of writes, of which a run has found another schema."""
    bucket = {"type": "Fixed", "fixed": {"count": 2, "onCountChange": "Rescale"}}
    seen = ready(bucket=bucket, writes=[builders.write(schedule="*/15 * * * *")])
    seen.wait(minutes=15)
    seen.settle()
    seen.finish("Write", after=measured(2, schema=1))
    seen.settle()
    seen.wait(minutes=15)
    seen.created.clear()
    return seen


def measured(buckets: int, schema: int) -> Json:
    return MEASURE | {"schemaId": schema, "bucketMode": "Fixed", "bucketCount": buckets}


def test_a_number_of_buckets_that_was_altered_by_hand_is_rescaled_before_the_next_write() -> None:
    seen = rescaled_by_hand()
    seen.finish("Observe", after=None, **found(1, BUCKET))
    seen.settle()
    assert seen.started == [PROVISION], "a write is due, and no run has measured the number"
    seen.finish("Provision", after=measured(4, schema=1), **found(1))
    seen.settle()
    assert seen.started == [PROVISION, ("Rescale", "")]
    assert seen.says("Ready") == ("Unknown", Reason.RESCALING)


def test_a_write_that_met_another_number_of_buckets_starts_a_verification_before_anything_else() -> None:
    seen = ready(writes=[builders.write(schedule="*/15 * * * *")])
    seen.wait(minutes=15)
    seen.settle()
    seen.fail(FailureClass.ENVIRONMENT, Reason.TABLE_ALTERED)
    seen.wait(minutes=15)
    seen.settle()
    assert [type_ for type_, _ in seen.started] == ["Write", "Provision"]
    refuse(seen, **found(1, BUCKET))
    seen.wait(minutes=15)
    seen.settle()
    assert seen.says("Ready") == ("False", Reason.TABLE_DIFFERS)
    assert len(seen.started) == 2, "nothing is written until the number is that of before"


def test_the_number_of_the_verified_table_is_recorded_for_the_jobs_of_writes() -> None:
    seen = ready()
    seen.edit(schema=builders.ORDERS | {"comment": "all"})
    seen.settle()
    seen.finish("Provision", after=measured(2, schema=1), **found(1))
    seen.settle()
    assert state_of(seen.table.status).bucket_count == 2


def test_a_number_of_buckets_that_others_have_set_starts_one_verification_and_so_does_the_number_before() -> None:
    seen = ready()
    look(seen, 1, BUCKET)
    seen.finish("Provision", **found(1, BUCKET))
    seen.settle()
    look(seen, 2, BUCKET, OPTION, baseline=1)
    assert seen.started == [OBSERVE, PROVISION, OBSERVE], "it is known"
    look(seen, 3, OPTION, baseline=1)
    assert seen.started[3:] == [OBSERVE, PROVISION], "it was reverted"


def test_changes_that_put_the_table_in_doubt_cannot_be_accepted_and_reverting_them_is_enough() -> None:
    seen = ready()
    look(seen, 1, BUCKET, refused=REFUSED)
    accept(seen, "1")
    seen.settle()
    refuse(seen, **found(1, BUCKET))
    seen.settle()
    assert seen.says("Drifted") == ("True", Reason.TABLE_ALTERED)
    seen.wait(minutes=90)
    seen.settle()
    assert seen.started == [OBSERVE, PROVISION, PROVISION], "it is tried again every hour"
    seen.finish("Provision", **found(2))
    seen.settle()
    assert seen.says("Ready") == ("True", Reason.TABLE_MATCHES_SPEC)


def test_a_number_of_buckets_that_a_refused_edit_has_met_is_verified_also_after_the_edit_was_reverted() -> None:
    seen = ready()
    seen.edit(schema=builders.ORDERS | {"comment": "all"})
    seen.settle()
    refuse(seen, **found(1, BUCKET))
    seen.settle()
    seen.edit(schema=builders.ORDERS)
    seen.settle()
    assert seen.started == [PROVISION] * 2
