"""What users allow the operator to do."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from paimon_operator.api.base import ApiModel, Duration

MAX_BACKOFF_LIMIT: Final = 20
"""A run has at most one attempt more."""
BackoffLimit = Annotated[int, Field(ge=0, le=MAX_BACKOFF_LIMIT, json_schema_extra={"format": "int32"})]
_Kept = Annotated[int, Field(ge=0, le=100, json_schema_extra={"format": "int32"})]


class DeletionPolicy(StrEnum):
    """What becomes of the data when the object is deleted."""

    RETAIN = "Retain"
    DELETE = "Delete"


class AdoptionPolicy(StrEnum):
    """What to do when the table exists already."""

    FAIL = "Fail"
    ADOPT_IF_IDENTICAL = "AdoptIfIdentical"


class ExternalWriters(StrEnum):
    """Does anyone but the operator commit to the table."""

    NONE = "None"
    ACTIVE = "Active"
    PAUSED = "Paused"


class CommitPolicy(StrEnum):
    """What to do where two committers could lose each other's work."""

    REQUIRE_SAFE = "RequireSafe"
    ALLOW_UNSAFE = "AllowUnsafe"


class RunPolicy(ApiModel):
    """How long runs may take, how often they are tried, how many are kept."""

    active_deadline: Duration | None = None
    """A run is stopped when its container has been running for this long."""
    backoff_limit: BackoffLimit | None = None
    """How often a failed run is tried again."""
    successful_runs_history_limit: _Kept | None = None
    """How many succeeded runs are kept. Older ones are deleted; runs made by users never are."""
    failed_runs_history_limit: _Kept | None = None
    """How many failed runs are kept. Older ones are deleted; runs made by users never are."""
