"""A lab whose catalog is on S3 and in a Hive metastore."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.cluster.hive.metastore import Metastore
from tests.e2e.lab import Lab
from tests.support.kubectl import Object


@dataclass(frozen=True, kw_only=True)
class HiveLab(Lab):
    """A lab with a Hive metastore. Its database has a valid name for Hive."""

    hive: Metastore

    @property
    def database(self) -> str:
        return self.namespace.replace("-", "_")

    def catalog(self, name: str = "lake", **spec: Any) -> Object:
        given = {"metastore": {"type": "Hive", "hive": {"uri": self.hive.uri}}, "allowedDatabases": [self.database]}
        return super().catalog(name, **{**given, **spec})

    def listed(self) -> str:
        """Returns the tables that the metastore lists in the database, one per line."""
        return self.hive.listed(self.database)
