"""Data that the operator loads into a table."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from paimon_operator.api.base import ApiModel, Cron, MemberName, rule, validated
from paimon_operator.api.catalog.storage import RelativePath
from paimon_operator.api.table.options import Options


class FileFormat(StrEnum):
    """Format of input files."""

    PARQUET = "parquet"
    CSV = "csv"
    JSON = "json"
    ORC = "orc"


class FileSelection(StrEnum):
    """Which files a run loads."""

    NEW = "New"
    ALL = "All"


class WriteMode(StrEnum):
    """What a write does to rows that are there already."""

    APPEND = "Append"
    UPSERT = "Upsert"


class TriggerType(StrEnum):
    """What makes a write due."""

    SCHEDULE = "Schedule"
    ONCE = "Once"


class Files(ApiModel):
    """Files in one of the catalog's locations."""

    location: MemberName
    """Name of one of the catalog's locations."""
    path: RelativePath | None = None
    """Directory or file below the location, without `..` and without wildcards. Absent: the whole location."""
    format: FileFormat
    """parquet, csv (with a header; empty is null), json (one document per line) or orc. Columns match by name."""
    select: FileSelection
    """New: files that no committed run has loaded; a replaced file is new. All: every file, each time."""


class Source(ApiModel):
    """Where the rows come from."""

    files: Files
    """Files in one of the catalog's locations."""


class Trigger(ApiModel):
    """What makes the write due."""

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
    """Schedule: again and again. Once: once, and again only after an edit of from or mode."""
    schedule: Cron | None = None
    """When it is due: five-field cron in the object's timeZone. A missed tick runs once."""


class Write(ApiModel):
    """One write. Due writes run in the order of the list, one commit each."""

    name: MemberName
    """Name of the write; its ledger of loaded files goes by it."""
    source: Annotated[Source, Field(alias="from")]
    """Where the rows come from."""
    mode: WriteMode
    """Append: add rows (tables without a primary key). Upsert: merge rows by key (tables with one)."""
    trigger: Trigger
    """What makes it due."""
    options: Options = Field(default_factory=dict)
    """Paimon options for this write only, like write-buffer-size."""
