"""What a pass has found, as requests to the operator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from paimon_contract.looks import MAX_REPORTED, LookRequest, SameTable, TableLook
from paimon_contract.result import ResultTable
from spark_apps.observer.table import Found, WatchedTable


@dataclass(frozen=True)
class Report:
    """One request, still without its age, and the tables that the operator knows once it has answered."""

    request: LookRequest
    news: Mapping[str, WatchedTable]

    def record_sent(self) -> None:
        """The operator has it."""
        for table in self.news.values():
            table.reported = table.found


def reports_of(tables: Mapping[str, WatchedTable]) -> Iterator[Report]:
    """The reports of the last pass. At least one: its answer says what is next.

    What an earlier pass has found is not in them: it is older.
    """
    looked = [(uid, each) for uid, each in tables.items() if each.looked]
    news = iter([(uid, each) for uid, each in looked if each.has_news])
    same = iter([_same(uid, each.found) for uid, each in looked if not each.has_news])
    is_first = True
    while True:
        changed, unchanged = dict(islice(news, MAX_REPORTED)), tuple(islice(same, MAX_REPORTED))
        if not is_first and not changed and not unchanged:
            return
        is_first = False
        found = tuple(_look(uid, each.found) for uid, each in changed.items())
        same_now = tuple(each for each in unchanged if each is not None)
        yield Report(LookRequest(tables=found, same=same_now), changed)


def _look(uid: str, found: Found | None) -> TableLook:
    return TableLook(uid=uid, table=found) if isinstance(found, ResultTable) else TableLook(uid=uid, unknown=found)


def _same(uid: str, found: Found | None) -> SameTable | None:
    """None for a table that still cannot be read."""
    return SameTable(uid=uid, snapshot_id=found.snapshot_id) if isinstance(found, ResultTable) else None
