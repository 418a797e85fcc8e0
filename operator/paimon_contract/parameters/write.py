"""Parameters of Write."""

from __future__ import annotations

from dataclasses import dataclass, field

from paimon_contract.documents import Document
from paimon_contract.job import Job


@dataclass(frozen=True, kw_only=True)
class WriteParameters(Document):
    """Load files. `hash` is that of from and mode; `ledger` the directory that lists loaded files.

    `location_name` is the location's name in the catalog, which stays when its URI changes.
    """

    name: str
    hash: str
    mode: str
    format: str
    location: str
    location_name: str | None = None
    path: str = ""
    select: str
    once: bool
    options: dict[str, str] = field(default_factory=dict)
    ledger: str


def write_of(job: Job) -> WriteParameters | None:
    """The write that a job loads; None for another operation."""
    return job.parameters if isinstance(job.parameters, WriteParameters) else None
