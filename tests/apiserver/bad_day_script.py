"""What happens on a bad day, in order. `morning` is the part that `make test` plays, `afternoon` follows it."""

from __future__ import annotations

import time
from typing import Final

from tests.apiserver.bad_day import ALERTS, OPERATORS, Day
from tests.apiserver.namespace_client import RUNS, TABLES, conditions
from tests.support.manifests import REMOVED, Manifest, append_table, edited, keyed_table, run

EVERY_MINUTE: Final = "* * * * *"
ONCE: Final = {"type": "Once"}
LARGE: Final = ("large-1", "large-2", "large-3")
AWAY: Final = ("away-1", "away-2", "away-3", "away-4", "away-5")
HEALTHY: Final = ("orders", "clicks", "late", *LARGE)
OF_TABLES: Final = ("PaimonStalled", "PaimonCommitSafeLost", "PaimonRunsFail", "PaimonRunsOutOfMemory")
UNKNOWN_OPTION: Final = {"no.such.option": "1"}
FORGOTTEN: Final = "forgotten"
NEW: Final = 60
"""Tables that cost the operator three requests each."""
BY_HAND: Final = "compact-by-hand"
WORKERS: Final = "4"


def morning(day: Day) -> None:
    """Storage away, an OOM loop, a wrong manifest, an undeclared writer; then the leader is lost."""
    first, second, *_ = OPERATORS
    day.start_operator(first, workers=WORKERS).wait_until_working()
    _create_healthy_tables(day)
    day.await_quiet(*ALERTS)
    _break_tables(day)
    day.await_fire(*OF_TABLES)
    _mend_tables(day)
    day.await_clear("PaimonStalled", "PaimonCommitSafeLost")
    day.await_quiet("PaimonOperatorNoLeader")
    day.kill_operator(first)
    day.await_fire("PaimonOperatorNoLeader")
    day.end_cause("PaimonOperatorNoLeader")
    day.start_operator(second, workers=WORKERS).wait_until_working()
    day.await_clear("PaimonOperatorNoLeader")
    _forget_table(day)


def _create_healthy_tables(day: Day) -> None:
    """Two tables that write each minute, of which one is blocked, one that has written, and large ones."""
    ns = day.shop
    ns.create_catalog()
    day.kubelet.endless.add("late")
    ns.create(_table("orders", spec__writes__0__trigger=ONCE))
    ns.create(_table("clicks", spec__writes__0__trigger__schedule=EVERY_MINUTE))
    ns.create(_table("late", spec__writes__0__trigger__schedule=EVERY_MINUTE))
    for name in LARGE:
        ns.create(_table(name, spec__writes=REMOVED))
    day.wait(lambda: all(_is_ready(day, name) for name in HEALTHY), "Ready tables")
    ns.create(_compaction("late"))
    written = "paimon_operator_table_last_success_timestamp_seconds{type='Write', table='orders'}"
    day.wait(lambda: day.prometheus.query(written), "the time of a write")


def _break_tables(day: Day) -> None:
    ns = day.shop
    day.kubelet.without_storage |= {*AWAY}
    day.kubelet.out_of_memory |= {*LARGE}
    for name in AWAY:
        ns.create(_table(name, spec__writes__0__trigger=ONCE))
    for name in LARGE:
        ns.create(_compaction(name))
    ns.create(edited(append_table(), metadata__name="wrong", spec__options=UNKNOWN_OPTION))
    ns.create(edited(append_table(), metadata__name="shared", spec__externalWriters="Active"))


def _mend_tables(day: Day) -> None:
    day.kubelet.without_storage.clear()
    day.wait(lambda: all(_has_compacted(day, name) for name in LARGE), "a second attempt with more memory")
    day.shop.patch(TABLES, "wrong", {"spec": {"options": None}})
    day.shop.patch(TABLES, "shared", {"spec": {"externalWriters": None}})
    day.end_cause(*OF_TABLES)


def _forget_table(day: Day) -> None:
    """A table stays Stalled, for the questions of a person on call."""
    day.shop.create(edited(append_table(), metadata__name=FORGOTTEN, spec__options=UNKNOWN_OPTION))
    day.shop.wait_for_condition(TABLES, FORGOTTEN, "Stalled", "True", "UnknownOption")
    day.ended = time.time()


def afternoon(day: Day) -> None:
    """A slow API server, a bug, silent watches, a late schedule, and a rate limit that is too low."""
    day.await_quiet("PaimonOperatorQueueOld", "PaimonOperatorBug")
    with day.proxy.without_reads():
        _edit_all(day)
        day.await_fire("PaimonOperatorQueueOld")
    day.end_cause("PaimonOperatorQueueOld")
    day.await_clear("PaimonOperatorQueueOld")
    with day.proxy.with_garbled_lists():  # a write is due each minute
        day.await_fire("PaimonOperatorBug")
    day.end_cause("PaimonOperatorBug")
    _silence_watches(day)
    _end_late_schedule(day)
    day.await_clear("PaimonOperatorBug", "PaimonRunsFail", "PaimonRunsOutOfMemory")
    _lower_rate_limit(day)
    day.ended = time.time()


def _silence_watches(day: Day) -> None:
    day.await_quiet("PaimonOperatorCanaryLate")
    with day.proxy.without_watches():
        day.await_fire("PaimonOperatorCanaryLate")
    day.end_cause("PaimonOperatorCanaryLate")
    day.await_clear("PaimonOperatorCanaryLate")


def _end_late_schedule(day: Day) -> None:
    """The table's compaction, which has blocked its write, ends."""
    day.await_fire("PaimonScheduleLate")
    day.kubelet.endless.clear()
    day.end_cause("PaimonScheduleLate")
    day.await_clear("PaimonScheduleLate")


def _lower_rate_limit(day: Day) -> None:
    """An edit of the chart's values lowers the rate limit while many tables are new, and the next edit raises it."""
    _, second, third, fourth = OPERATORS
    day.await_quiet("PaimonOperatorThrottled")
    day.kill_operator(second)
    for number in range(NEW):
        day.shop.create(_table(f"new-{number}", spec__writes=REMOVED, spec__suspend=True))
    day.start_operator(third, api_rate="4", api_burst="1")
    day.await_fire("PaimonOperatorThrottled")
    day.kill_operator(third)
    day.start_operator(fourth, workers=WORKERS).wait_until_working()
    day.end_cause("PaimonOperatorThrottled")
    day.await_clear("PaimonOperatorThrottled")


def _edit_all(day: Day) -> None:
    """Edits every table, so that all of them are reconciled."""
    for table in day.shop.all(TABLES):
        day.shop.patch(TABLES, table["metadata"]["name"], {"metadata": {"labels": {"edited": "today"}}})


def _table(name: str, **edits: object) -> Manifest:
    return keyed_table(metadata__name=name, **edits)


def _compaction(table: str) -> Manifest:
    return run(metadata__name=f"{table}-{BY_HAND}", spec__tableRef__name=table)


def _has_compacted(day: Day, table: str) -> bool:
    found = conditions(day.shop.get(RUNS, f"{table}-{BY_HAND}")).get("Succeeded", {})
    return found.get("status") == "True"


def _is_ready(day: Day, table: str) -> bool:
    return conditions(day.shop.get(TABLES, table)).get("Ready", {}).get("status") == "True"
