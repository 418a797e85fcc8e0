"""A lab whose catalog is on S3 and keeps its list of tables in a Hive metastore."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.cluster.hive.metastore import Metastore
from tests.e2e.lab import Lab
from tests.support.kubectl import Object


@dataclass(frozen=True, kw_only=True)
class HiveLab(Lab):
    """Its database has a name that Hive knows."""

    hive: Metastore

    @property
    def database(self) -> str:
        return self.namespace.replace("-", "_")

    def catalog(self, name: str = "lake", **spec: Any) -> Object:  # type: ignore[override]
        given = {"metastore": {"type": "Hive", "hive": {"uri": self.hive.uri}}, "allowedDatabases": [self.database]}
        return super().catalog(name, **{**given, **spec})

    def listed(self) -> str:
        """Tables of the database that the metastore lists."""
        return self.hive.listed(self.database)
