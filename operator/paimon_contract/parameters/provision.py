"""Parameters of Provision."""

from __future__ import annotations

from dataclasses import dataclass, field

from paimon_contract.documents import Document
from paimon_contract.drift import JobDrift


@dataclass(frozen=True)
class JobColumn(Document):
    """A column; `type` is Paimon's text, for messages."""

    name: str
    type: str
    comment: str | None = None
    data_type: object | None = None
    """The same type in the JSON form of Paimon's schema files. Jobs of release 0.1 have none."""
    renamed_from: str | None = None
    """Name that the column may still have in the table."""
    default_value: str | None = None
    """Value that writes store in place of NULL, as text that Paimon casts to the type."""


@dataclass(frozen=True, kw_only=True)
class UnknownWrite(Document):
    """A write of which the PaimonTable knows no run: the hash of its from and mode, and its ledger's directory."""

    name: str
    hash: str
    ledger: str


@dataclass(frozen=True, kw_only=True)
class ProvisionParameters(Document):
    """Create the table, or verify and adopt an existing one. `options` are all options that the spec asks for."""

    columns: tuple[JobColumn, ...]
    primary_keys: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    comment: str = ""
    options: dict[str, str] = field(default_factory=dict)
    adoption: str
    dropped: tuple[str, ...] | None = None
    """Columns, and paths of nested fields, that are dropped. Others that are not declared stay in the table."""
    rescales: bool | None = None
    """True: another number of buckets than the table's is left to a rescale."""
    approve: bool | None = None
    """True: a plan that loses or rewrites data is applied only if `approved` is its hash."""
    approved: str | None = None
    """Hash of the plan that a user has approved."""
    last_observed: str | None = None
    """When a run last saw the table (RFC 3339). A table that has existed is reported when it is missing, not created
    again. None: it may be created."""
    recreates: bool | None = None
    """Whether a missing table that has existed is recreated. Its writes then load again."""
    recreation: str | None = None
    """Text that the table gets when it is recreated. A table that has it was created by this run or by an earlier
    one, whose result was lost."""
    owners_here: tuple[str, ...] | None = None
    """For Adopt: digests of the owner marks (`owner_mark.digest_of`) of this cluster's other PaimonTables with proof
    that name the same database and table, at any place. A table with such a mark is not taken over."""
    unknown_writes: tuple[UnknownWrite, ...] | None = None
    """Writes to look for in the table's ledgers: an existing table can have been loaded by another PaimonTable's runs.
    """
    drift: JobDrift | None = None
    """The schema that the operator has left. None: none is recorded."""
    corrects: bool | None = None
    """True: also what the manifest does not declare is taken back, as far as it is legal."""
    verifies: bool | None = None
    """True: an earlier run has made the table as this manifest says. A column of `dropped` that the table has was added
    since, by somebody else, and stays."""
