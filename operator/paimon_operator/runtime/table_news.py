"""What a change of a table means to its catalog, whose status counts and names its tables.

A pass of a catalog reads all its tables. So it is made at once only for what somebody waits for, else soon: thousands
of tables that are created together then cost their catalog a pass every few seconds, not one each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from paimon_operator.api.reasons import Reason
from paimon_operator.core.catalog.reachability import reached_warehouse, unreachable_storage_of
from paimon_operator.core.catalog.usage import ended_runs
from paimon_operator.core.commits.foreign_commits import ForeignWriters, foreign_writers_of
from paimon_operator.core.ports import Manifest


@dataclass(frozen=True, slots=True)
class TableSummary:
    """The facts of a table that its catalog's status shows. A change of them enqueues the catalog."""

    catalog: str
    reached: str | None
    foreign_writers: ForeignWriters
    unreachable_storage: Reason | None
    """Without the time: a table that fails again for the same reason is no news to its catalog."""
    ended_runs: int

    @classmethod
    def of(cls, body: Manifest) -> Self:
        """From a table as the API server stores it, or as the cache keeps it."""
        spec: Mapping[str, Any] = body.get("spec") or {}
        failing = unreachable_storage_of(body)
        return cls(
            catalog=(spec.get("catalogRef") or {}).get("name", ""),
            reached=reached_warehouse(body),
            foreign_writers=foreign_writers_of(body),
            unreachable_storage=failing.reason if failing else None,
            ended_runs=ended_runs(body),
        )

    def differs_only_by_runs(self, before: Self) -> bool:
        """Whether nothing but ended runs is new since `before`: the least urgent of all news."""
        return replace(self, ended_runs=before.ended_runs) == before

    def is_urgent(self, before: Self, place: str | None) -> bool:
        """Whether a change from `before` is urgent for the catalog, whose status names `place`.

        That is a first run which has reached the catalog's storage, and a foreign writer that was found or declared.
        """
        is_reached = self.reached not in (None, before.reached, place)
        return is_reached or self.foreign_writers != before.foreign_writers
