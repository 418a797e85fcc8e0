"""A lake in S3 without a metastore."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.cluster.s3 import REGION
from tests.spark.lake import Lake
from tests.support import lake_reader
from tests.support.s3_server import S3Server


@dataclass
class S3Lake(Lake):
    """One table `shop.orders` in a bucket `lake`; `root` is the directory of the warehouse in it."""

    s3: S3Server = field(kw_only=True)
    root: str = field(kw_only=True)

    @property
    def warehouse(self) -> str:
        return f"s3://lake/{self.root}"

    def job(self, operation: str, *, run: str | None = None, **member: Any) -> dict[str, Any]:
        options = {
            "s3.endpoint": self.s3.endpoint,
            "s3.endpoint.region": REGION,
            "s3.path.style.access": "true",
        }
        catalog = {"warehouse": self.warehouse, "metastore": "filesystem", "options": options}
        return super().job(operation, run=run, **member) | {"catalog": catalog}

    def write_job(self, *, run: str | None = None, **more: Any) -> dict[str, Any]:
        ledger = f"{self.warehouse}/.paimon-operator/{self.database}.orders/import"
        return super().write_job(run=run, **{"ledger": ledger, **more})

    def read(self, table: str) -> list[dict[str, Any]]:
        return lake_reader.read_rows(self.warehouse, self.database, table, env=self.s3.reader_environment)
