"""What the runs of a table have used, and what the next ones are given because of it."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from paimon_operator.api.base import ApiModel, Int64, Memory, RunName, Time
from paimon_operator.api.run.status import RunType

MAX_LEARNED: Final = 16
Day = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$", max_length=10)]


class Usage(ApiModel):
    """Resources that the table's runs used. Each executor counts as long as its driver ran."""

    since: Time
    """End of the first run that is counted."""
    runs: Int64
    """Runs that ended."""
    failed: Int64
    """Those that did not succeed."""
    pod_seconds: Int64
    """Seconds that their containers ran."""
    core_seconds: Int64
    """Seconds of each container times its requested CPUs."""
    gib_seconds: Int64
    """Seconds of each container times its memory limit in GiB."""
    expected_seconds: Int64 | None = None
    """Sum of what the runs with an expectation were expected to take."""
    actual_seconds: Int64 | None = None
    """Sum of what they have taken."""
    expected_files: Int64 | None = None
    """Sum of the files, or snapshots, that the runs with an expectation were expected to remove."""
    actual_files: Int64 | None = None
    """Sum of what they have removed."""
    maintenance_day: Day | None = None
    """Day, in UTC, of the next field."""
    maintenance_pod_seconds: Int64 | None = None
    """Part of podSeconds on this day that was used by maintenance, which limits.maintenancePodHoursPerDay limits."""


class LearnedSize(ApiModel):
    """Driver memory with which runs of one kind begin, because an earlier one ran out of memory."""

    type: RunType
    """Type of the runs."""
    subject: Annotated[str, Field(max_length=40)] | None = None
    """Target of the runs: the name of the write, or the strategy of the compaction."""
    memory: Memory
    """Memory of their first attempt, if it is more than the configured memory, and at most four times that."""
    run: RunName
    """Name of the last run that ran out of memory."""
    time: Time
    """End of that run. After 30 days, runs begin with the configured memory again."""
