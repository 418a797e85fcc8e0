"""What the tables of a catalog tell about its storage, which the catalog itself never touches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from paimon_operator.api.reasons import Reason
from paimon_operator.core.ports import Manifest

STORAGE_FAILS: Final = frozenset({
    Reason.STORAGE_UNREACHABLE, Reason.BUCKET_NOT_FOUND, Reason.ACCESS_DENIED, Reason.CREDENTIALS_REFUSED,
    Reason.SECRET_NOT_FOUND, Reason.CERTIFICATE_NOT_TRUSTED, Reason.METASTORE_UNREACHABLE, Reason.METASTORE_NOT_FOUND,
})  # fmt: skip
"""Reasons of failed runs that speak of the storage, not of the table."""
_MEMORIES: Final = ("provision", "compaction", "retention", "drop")


@dataclass(frozen=True, order=True)
class UnreachableStorage:
    """A table whose last run failed at the storage. Later failures are greater."""

    time: str
    """When, as the status has it: such texts sort by time."""
    table: str
    reason: Reason

    @property
    def words(self) -> str:
        """For a catalog's message: bounded, and the same for as long as the table fails for this reason."""
        return f"PaimonTable {self.table} could not: {self.reason}. {self.reason.remedy}"


def unreachable_storage_of(table: Manifest) -> UnreachableStorage | None:
    """From a table as the API server stores it; None when the last run of none of its works failed at the storage."""
    found = (failure for failure in _failures(table.get("status") or {}) if failure.get("reason") in STORAGE_FAILS)
    newest = max(found, key=lambda failure: str(failure.get("time")), default=None)
    if newest is None:
        return None
    reason = next(reason for reason in STORAGE_FAILS if reason == newest["reason"])
    return UnreachableStorage(str(newest.get("time")), table["metadata"]["name"], reason)


def summarise(all_: Iterable[UnreachableStorage], message: str) -> UnreachableStorage | None:
    """Which one a catalog tells of: the one that its `message` tells of already, or else the newest.

    Ten thousand tables that fail at once, and again and again, thus change their catalog's status once.
    """
    failing = tuple(all_)
    said = (each for each in failing if each.words in message)
    return next(said, max(failing, default=None))


def _failures(status: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    memories = [status.get(name) or {} for name in _MEMORIES] + list(status.get("writes") or ())
    yield from (memory["failure"] for memory in memories if memory.get("failure"))
