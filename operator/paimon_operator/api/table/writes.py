"""Writes: data that the operator loads into a table."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from paimon_operator.api.base import ApiModel, Cron, MemberName, rule, validated
from paimon_operator.api.catalog.storage import RelativePath
from paimon_operator.api.table.options import Options

MAX_WRITES: Final = 16
"""So many writes a table may have."""
LedgerName = Annotated[str, Field(pattern=r"^[a-z0-9][-a-z0-9_]*$", min_length=1, max_length=48)]
"""Directory of a write's list of loaded files, below that of its table."""


class FileFormat(StrEnum):
    """Format of input files."""

    PARQUET = "parquet"
    CSV = "csv"
    JSON = "json"
    ORC = "orc"


class FileSelection(StrEnum):
    """Files that a run loads."""

    NEW = "New"
    ALL = "All"


class WriteMode(StrEnum):
    """How a write treats existing rows."""

    APPEND = "Append"
    UPSERT = "Upsert"


class TriggerType(StrEnum):
    """Type of a write's trigger."""

    SCHEDULE = "Schedule"
    ONCE = "Once"


class Files(ApiModel):
    """Input files in one of the catalog's locations."""

    location: MemberName
    """Name of one of the catalog's locations."""
    path: RelativePath | None = None
    """Directory or file in the location, without `..` and wildcards. Absent: the whole location."""
    format: FileFormat
    """parquet, csv (with a header; an empty value is null), json (one document per line) or orc. Columns match by
    name."""
    select: FileSelection
    """New: files that no committed run has loaded; a replaced file counts as new. All: every file, each time."""


class Source(ApiModel):
    """Source of the rows."""

    files: Files
    """Input files in one of the catalog's locations."""


class Trigger(ApiModel):
    """When the write is due."""

    model_config = validated(
        rule(
            "self.type != 'Schedule' || has(self.schedule)",
            "schedule must be set when type is Schedule",
            path=".schedule",
            reason="FieldValueRequired",
        ),
        rule(
            "self.type == 'Schedule' || !has(self.schedule)",
            "schedule must not be set unless type is Schedule",
            path=".schedule",
            reason="FieldValueForbidden",
        ),
    )

    type: TriggerType
    """Schedule: by the cron schedule. Once: one time, and again after an edit of from or mode."""
    schedule: Cron | None = None
    """Cron schedule: five fields, in the object's timeZone. Missed ticks start one run."""


class Write(ApiModel):
    """One write. Due writes run in the order of the list, with one commit each."""

    name: MemberName
    """Name of the write. It identifies the ledger of loaded files."""
    source: Annotated[Source, Field(alias="from")]
    """Source of the rows."""
    mode: WriteMode
    """Append: adds rows, for tables without a primary key. Upsert: merges rows by key, for tables with one."""
    trigger: Trigger
    """When the write is due."""
    options: Options = Field(default_factory=dict)
    """Paimon options for this write only, for example write-buffer-size."""
