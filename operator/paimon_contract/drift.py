"""What a job states of a table's schema, so that its driver finds what somebody else has changed."""

from __future__ import annotations

from dataclasses import dataclass

from paimon_contract.documents import Document
from paimon_contract.result import DriftedField


@dataclass(frozen=True, kw_only=True)
class JobDrift(Document):
    """The schema that the operator has left, and the `known` changes that others had made to the table before.

    `hidden` known changes are not listed.
    """

    schema_id: int
    schema_digest: str
    known: tuple[DriftedField, ...] = ()
    hidden: int = 0
