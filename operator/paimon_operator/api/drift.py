"""What somebody else has changed in a table, as the status of a table and of a run show it."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from paimon_operator.api.base import ApiModel, Hash, Int64, Time
from paimon_schema.drift import DriftKind

MAX_CHANGES: Final = 10
MAX_CORRECTIONS: Final = 3
DriftedName = Annotated[str, Field(max_length=160)]
_Value = Annotated[str, Field(max_length=128)]


class DriftedField(ApiModel):
    """A change that somebody else made."""

    change: DriftKind
    """Kind of the change."""
    field: DriftedName = ""
    """The option, or the column or nested field by its name before the change. Empty for the table itself."""
    before: _Value | None = None
    """Value before the change. Absent: there was none. A long value ends with a hash of it."""
    after: _Value | None = None
    """Value after the change. Absent: there is none."""
    correctable: bool | None = None
    """True: driftPolicy Correct takes the change back."""


DriftedFields = Annotated[tuple[DriftedField, ...], Field(max_length=MAX_CHANGES)]


class DriftFound(ApiModel):
    """The table's latest schema, and what somebody else has changed."""

    baseline_id: Int64 | None = None
    """Schema with which it was compared. Absent: none was recorded."""
    schema_id: Int64
    """Latest schema of the table."""
    schema_digest: Hash
    """Hash of that schema."""
    schema_time: Time
    """Time when that schema was written."""
    count: Int64 = 0
    """Number of changes."""
    changes: DriftedFields = ()
    """The first changes, the gravest kinds first."""
    refused: Annotated[str, Field(max_length=256)] | None = None
    """Why the table cannot be made to match the manifest any more. Absent: it can."""
    taken_back: DriftedFields = ()
    """Changes that the run has taken back."""


class Correction(ApiModel):
    """A run that was started to take changes back."""

    time: Time
    """When it was decided."""
    fields: Annotated[tuple[DriftedName, ...], Field(max_length=MAX_CHANGES)] = ()
    """Options and columns whose changes it takes back."""
