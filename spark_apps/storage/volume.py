"""What is said of a warehouse on a volume, which is a directory of the Pod."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spark_apps.failures.patterns import FailurePattern, failure_pattern

SIGNS = (
    failure_pattern(
        r"AccessDeniedException|Create database location failed",
        "Environment",
        "AccessDenied",
        "The volume cannot be written to",
        "let uid or group 185 write there: fsGroup does nothing on NFS and hostPath",
        of_storage=False,
        field="spec.storage.claim",
    ),
)


@dataclass(frozen=True)
class Volume:
    """The volume of one job's warehouse. It has no address."""

    where: str = ""
    signs: ClassVar[tuple[FailurePattern, ...]] = SIGNS

    def field(self, reason: str, said: str) -> None:
        """No other failure leads to a field of the catalog."""
        del reason, said
