"""Whether a catalog's storage can be reached, derived from its tables' statuses: the operator never connects to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from paimon_operator.api.reasons import Reason, known_reason
from paimon_operator.core.operations import registry
from paimon_operator.core.operations.operation import Role
from paimon_operator.core.ports import Manifest

STORAGE_FAILS: Final = frozenset({
    Reason.STORAGE_UNREACHABLE, Reason.BUCKET_NOT_FOUND, Reason.ACCESS_DENIED, Reason.CREDENTIALS_REFUSED,
    Reason.SECRET_NOT_FOUND, Reason.CERTIFICATE_NOT_TRUSTED, Reason.METASTORE_UNREACHABLE, Reason.METASTORE_NOT_FOUND,
})  # fmt: skip
"""Reasons of failed runs that are caused by the storage, not by the table."""
_BELOW_WAREHOUSE: Final = 2
"""Parts of a table's place below its warehouse: the directories of its database and of itself."""


@dataclass(frozen=True)
class UnreachableStorage:
    """A table whose last run failed at the storage."""

    table: str
    reason: Reason

    @property
    def description(self) -> str:
        """The end of a sentence in the catalog's message. It is the same for as long as the reason is the same."""
        return f"PaimonTable {self.table} could not: {self.reason}. {self.reason.remedy}"


def reached_warehouse(table: Manifest) -> str | None:
    """The warehouse, as `place_of_warehouse`, in which a run has established `table` (plain JSON); None without a run.

    Empty for a status of release 0.1, which stored no place.
    """
    status: Mapping[str, Any] = table.get("status") or {}
    owned: Mapping[str, Any] = status.get("ownership") or {}
    if "place" in owned:
        return str(owned["place"]).rsplit("/", _BELOW_WAREHOUSE)[0]
    field = registry.OPERATIONS.with_role(Role.ESTABLISHES_TABLE).memory or ""
    return "" if "lastTime" in (status.get(field) or {}) else None


def unreachable_storage_of(table: Manifest) -> UnreachableStorage | None:
    """The newest failure of `table` (plain JSON) if the storage caused it; None when no last run failed there."""
    failures = [each for each in _failures(table.get("status") or {}) if each.get("reason") in STORAGE_FAILS]
    if not failures:
        return None
    newest = max(failures, key=lambda failure: str(failure.get("time")))  # RFC 3339 texts in UTC sort by time
    reason = known_reason(newest["reason"], Reason.STORAGE_UNREACHABLE)
    return UnreachableStorage(table["metadata"]["name"], reason)


def first_by_name(failing: Iterable[UnreachableStorage]) -> UnreachableStorage | None:
    """The table that the catalog's message names; None when `failing` is empty.

    The choice depends on the names only. Another failure of any table, in any order, therefore leaves the catalog's
    status as it is; only a table with a smaller name, another reason or a recovery changes it.
    """
    return min(failing, key=lambda each: each.table, default=None)


def _failures(status: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The last failures that a table's status remembers, of all operations."""
    for field in registry.OPERATIONS.memories:
        remembered = status.get(field) or ()
        for memory in remembered if isinstance(remembered, list) else (remembered,):
            if memory and memory.get("failure"):
                yield memory["failure"]
