"""What a Spark Pod needs to get at a catalog's data, as one value. It names Secrets and never holds what is in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

ROOT: Final = "/etc/paimon-storage"
"""Below it are the files that a Pod is given: one directory per Secret or ConfigMap."""


@dataclass(frozen=True, kw_only=True)
class SecretKey:
    """One key of a Secret."""

    secret: str
    key: str
    optional: bool = False


@dataclass(frozen=True, kw_only=True)
class Variable:
    """An environment variable: with a value, or filled by the kubelet from a Secret."""

    name: str
    value: str | None = None
    secret_key: SecretKey | None = None
    driver_only: bool = False
    """Executors do without it."""


class ValueSource(StrEnum):
    """What a mount shows."""

    SECRET = "Secret"  # noqa: S105 - the kind of an object
    CONFIG_MAP = "ConfigMap"
    CLAIM = "PersistentVolumeClaim"


@dataclass(frozen=True, kw_only=True)
class Mount:
    """A Secret, ConfigMap or claim as a directory of the Pod. Only a claim can be written to."""

    volume: str
    """Name of the volume in the Pod."""
    source: ValueSource
    name: str
    """Name of the Secret, ConfigMap or claim in the Pod's namespace."""
    path: str
    items: Mapping[str, str] = field(default_factory=dict)
    """Key -> file below `path`; a missing key keeps the Pod from starting. Empty: every key, as a file of its name."""
    optional: bool = False
    """The Pod starts without the Secret or ConfigMap, or a key of it, as well."""
    driver_only: bool = False
    """Executors do without it."""


@dataclass(frozen=True, kw_only=True)
class Access:
    """Access to data. Options are Paimon's and Hadoop's; secrets come in by variables and mounts."""

    catalog_options: Mapping[str, str] = field(default_factory=dict)
    """For Paimon's catalog and its file systems."""
    hadoop_options: Mapping[str, str] = field(default_factory=dict)
    """For Hadoop's file systems, which read input files and hold the ledger."""
    variables: tuple[Variable, ...] = ()
    mounts: tuple[Mount, ...] = ()
    table_host_name: bool = False
    """The drivers of a table share one host name (naming.host_name)."""

    def __add__(self, other: Access) -> Access:
        """Both together, as for storage and metastore. The options of `other` override."""
        return Access(
            catalog_options={**self.catalog_options, **other.catalog_options},
            hadoop_options={**self.hadoop_options, **other.hadoop_options},
            variables=self.variables + other.variables,
            mounts=self.mounts + other.mounts,
            table_host_name=self.table_host_name or other.table_host_name,
        )
