"""How a driver ends: its exit code, and the class of the error that it reports."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Final, Self


class ExitCode(IntEnum):
    """How a driver ends. Any other code, 137 for instance, is classified from the Pod's status.

    A driver that finds another job than the operator's reports nothing but JOB_CHANGED.
    """

    OK = 0
    CONFLICT = 10
    SPEC = 20
    ENVIRONMENT = 25
    JOB_CHANGED = 26
    INFRASTRUCTURE = 30
    RESULT_UNKNOWN = 40


class ErrorClass(StrEnum):
    """What kind of error a driver reports. Each has an exit code."""

    CONFLICT = "Conflict"
    SPEC = "Spec"
    ENVIRONMENT = "Environment"
    INFRASTRUCTURE = "Infrastructure"
    RESULT_UNKNOWN = "ResultUnknown"

    @property
    def exit_code(self) -> ExitCode:
        """The exit code that goes with it."""
        return ExitCode[self.name]

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        """Reads the class that Spark images of release 0.1 report as Surroundings."""
        return cls(cls.ENVIRONMENT) if value == "Surroundings" else None


EXIT_CODES: Final = {each.value: int(each.exit_code) for each in ErrorClass}
"""Exit code per error class."""
START_JVM: Final = 75
"""The driver's first program ends with it when the job needs a JVM. It never becomes the end of a driver."""
