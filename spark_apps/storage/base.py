"""The protocol of a kind of storage: what the driver needs to open the warehouse, and what explains a failure."""

from __future__ import annotations

from typing import Any, Protocol

from spark_apps.failures.patterns import FailurePattern


class Hadoop(Protocol):
    """Hadoop in the driver, as a storage uses it; `session.Session` is one. Both start at their first use."""

    @property
    def jvm(self) -> Any:
        """The JVM (py4j)."""

    @property
    def hadoop_configuration(self) -> Any:
        """The Configuration (Java) with all options of Hadoop's file systems."""


class Storage(Protocol):
    """The storage of one job. A new kind is one class, and one line in `storage_of`."""

    @property
    def where(self) -> str:
        """The address, for messages: an endpoint, a server. Empty for a storage without one."""

    @property
    def failure_patterns(self) -> tuple[FailurePattern, ...]:
        """Patterns of its failures, tried before the common ones."""

    def field_of(self, reason: str, message: str) -> str | None:
        """The field of the catalog to look at after a failure; None for a failure that is not the storage's."""

    @property
    def catalog_options(self) -> dict[str, str]:
        """Paimon's catalog options that the warehouse needs. The job's own options override them."""

    def hadoop_options(self, driver: Hadoop) -> dict[str, str]:
        """Options of Hadoop's file systems that the warehouse needs. The job's own options override them."""

    def log_in(self, driver: Hadoop) -> None:
        """Logs the process in, where the storage asks for it. Called once, before the first access."""

    @property
    def executor_options(self) -> dict[str, str]:
        """Spark's settings by which executors get access."""
