"""A warehouse on HDFS: the cluster's configuration and login, and which field of the catalog a failure is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final
from urllib.parse import urlsplit

from paimon_contract import environment
from spark_apps.failures.hdfs_patterns import HDFS_PATTERNS
from spark_apps.failures.patterns import FailurePattern
from spark_apps.storage import hadoop
from spark_apps.storage.base import Hadoop

SCHEME: Final = "hdfs"
_FIELD: Final = "spec.storage.hdfs"


@dataclass(frozen=True)
class Hdfs:
    """The HDFS of one job's warehouse."""

    warehouse: str
    where: str
    """The NameNode or nameservice, and with Kerberos the principal that accesses it."""
    is_secure: bool
    """Whether the cluster authenticates by Kerberos."""
    failure_patterns: ClassVar[tuple[FailurePattern, ...]] = HDFS_PATTERNS

    @staticmethod
    def holds(uri: str) -> bool:
        """Whether the URI is one of HDFS."""
        return urlsplit(uri).scheme == SCHEME

    @classmethod
    def of(cls, warehouse: str, hadoop_options: Mapping[str, str], variables: Mapping[str, str]) -> Hdfs:
        """The HDFS that the URI of the warehouse names."""
        server = urlsplit(warehouse).netloc
        where = f"NameNode {server}" if ":" in server else f"HDFS {server}"
        is_secure = hadoop_options.get("hadoop.security.authentication") == "kerberos"
        principal = variables.get(environment.KRB5PRINCIPAL)
        return cls(warehouse, f"{where}, as {principal}" if is_secure and principal else where, is_secure)

    def field_of(self, reason: str, message: str) -> str | None:
        """The field of the catalog to look at after a failure; None for a failure that is not the storage's."""
        del message
        if reason == "AccessDenied":
            return f"{_FIELD}.kerberos.principal" if self.is_secure else f"{_FIELD}.user"
        return "spec.warehouse" if reason == "StorageUnreachable" else None

    @property
    def catalog_options(self) -> dict[str, str]:
        """Options that leave the login to this process."""
        return hadoop.CATALOG_OPTIONS

    def hadoop_options(self, driver: Hadoop) -> dict[str, str]:
        """The allowed keys of the cluster's configuration files, over bounds for waiting."""
        del driver
        return hadoop.options()

    def log_in(self, driver: Hadoop) -> None:
        """Logs in from the keytab, when the catalog names one."""
        hadoop.log_in(driver.jvm, driver.hadoop_configuration)

    @property
    def executor_options(self) -> dict[str, str]:
        """Settings by which the driver gets delegation tokens for executors."""
        return hadoop.token_options(self.warehouse)
