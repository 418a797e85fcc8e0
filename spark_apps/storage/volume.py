"""A warehouse on a volume, which is a directory of the Pod."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from spark_apps.failures.patterns import FailurePattern, failure_pattern
from spark_apps.storage.base import Hadoop

VOLUME_PATTERNS: Final = (
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
    """The volume of one job's warehouse. It has no address, no options and no login."""

    where: str = ""
    failure_patterns: ClassVar[tuple[FailurePattern, ...]] = VOLUME_PATTERNS

    def field_of(self, reason: str, message: str) -> None:
        """None: only its own patterns lead to a field of the catalog."""
        del reason, message

    @property
    def catalog_options(self) -> dict[str, str]:
        """None."""
        return {}

    def hadoop_options(self, driver: Hadoop) -> dict[str, str]:
        """None."""
        del driver
        return {}

    def log_in(self, driver: Hadoop) -> None:
        """A volume has no login."""

    @property
    def executor_options(self) -> dict[str, str]:
        """None."""
        return {}
