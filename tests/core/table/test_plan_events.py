"""What a table announces when a run has ended."""

from __future__ import annotations

from paimon_operator.api.reasons import Reason
from tests.support import builders
from tests.support.table_world import TableWorld


def test_the_success_of_a_run_announces_that_the_table_is_ready_only_where_the_run_has_made_it_so() -> None:
    compaction = {"mode": "Dedicated", "full": {"schedule": "0 9 * * *"}}
    seen = TableWorld(table=builders.table(compaction=compaction))
    seen.settle()
    seen.finish("Provision", created=True)
    assert [note.reason for note in seen.reconcile().events] == [Reason.RUN_SUCCEEDED]
    seen.run_due()
    seen.wait(hours=1)
    seen.settle()
    seen.edit(options={"nonsense": "1"})
    seen.settle()
    seen.edit(options=None)
    seen.finish("Compact")
    assert [note.reason for note in seen.reconcile().events] == [Reason.RUN_SUCCEEDED, Reason.TABLE_MATCHES_SPEC]
