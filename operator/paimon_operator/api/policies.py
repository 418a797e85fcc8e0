"""Policies: what users permit the operator to do, and limits of its runs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from paimon_operator.api.base import ApiModel, Deadline

MAX_BACKOFF_LIMIT: Final = 20
"""A run has at most one attempt more than this."""
BackoffLimit = Annotated[int, Field(ge=0, le=MAX_BACKOFF_LIMIT, json_schema_extra={"format": "int32"})]
_Kept = Annotated[int, Field(ge=0, le=100, json_schema_extra={"format": "int32"})]


class DeletionPolicy(StrEnum):
    """Fate of the data when the object is deleted."""

    RETAIN = "Retain"
    DELETE = "Delete"


class AdoptionPolicy(StrEnum):
    """What the operator does when the table already exists."""

    FAIL = "Fail"
    ADOPT_IF_IDENTICAL = "AdoptIfIdentical"
    ADOPT = "Adopt"


class ExternalWriters(StrEnum):
    """Whether writers other than the operator commit to the table."""

    NONE = "None"
    ACTIVE = "Active"
    PAUSED = "Paused"


class CommitPolicy(StrEnum):
    """Whether runs commit where concurrent commits can be lost."""

    REQUIRE_SAFE = "RequireSafe"
    ALLOW_UNSAFE = "AllowUnsafe"


class EvolutionPolicy(StrEnum):
    """What happens with an edit that loses or rewrites data."""

    AUTOMATIC = "Automatic"
    APPROVE = "Approve"


class DriftPolicy(StrEnum):
    """What the operator does about what somebody else has changed in the table."""

    REPORT = "Report"
    CORRECT = "Correct"


class EnforcedBlock(StrEnum):
    """A block of a catalog's tableDefaults that tables may not replace."""

    ORPHAN_FILES = "OrphanFiles"


class RunPolicy(ApiModel):
    """Deadline, retries and history of runs."""

    active_deadline: Deadline | None = None
    """Longest time that the container of a run may run. Then the run is stopped."""
    backoff_limit: BackoffLimit | None = None
    """Number of retries of a failed run."""
    successful_runs_history_limit: _Kept | None = None
    """Number of succeeded runs to keep. Older ones are deleted, except runs that users created."""
    failed_runs_history_limit: _Kept | None = None
    """Number of failed runs to keep. Older ones are deleted, except runs that users created."""
