"""A lake in buckets of a real S3 server. Jobs are made from catalogs, as in the operator."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paimon_operator.core import storage
from paimon_operator.core.storage.access import ROOT
from tests.spark.lake import Lake
from tests.support import builders, lake_reader
from tests.support.s3_server import REGION, S3Server, s3_server
from tests.support.s3_token_gate import CREDENTIALS, WORKLOAD_TOKEN, Gate
from tests.support.spark_process import Exited

COLUMNS = [{"name": "id", "type": "BIGINT"}, {"name": "what", "type": "STRING"}]


@dataclass
class Bucket:
    """A lake whose warehouse and landing folder are buckets of a real server."""

    lake: Lake
    server: S3Server
    env: dict[str, str] = field(default_factory=dict)
    """What the kubelet takes from a Secret, or the cloud puts into the driver's environment."""

    @property
    def mounts(self) -> Path:
        """What is /etc/paimon-storage in a Pod."""
        return self.lake.directory / "mounts"

    def mount(self, path: str, text: str) -> None:
        """A file that a Secret or ConfigMap of the catalog holds."""
        file = self.mounts / path
        file.parent.mkdir(parents=True)
        file.write_text(text)

    def drive(self, operation: str, s3: dict[str, Any], **member: Any) -> Exited:
        """One run of a catalog with this `s3`."""
        job, told = self.job(operation, s3, **member)
        files = {name: value.replace(ROOT, str(self.mounts)) for name, value in told.items()}
        return self.lake.drive(job, **files, **self.env)

    def job(self, operation: str, s3: dict[str, Any], **member: Any) -> tuple[dict[str, Any], dict[str, str]]:
        """What such a run is asked to do, and what its environment tells."""
        catalog = builders.catalog(
            warehouse="s3://lake/warehouse",
            storage={"s3": {"endpoint": self.server.endpoint, "region": REGION, "pathStyleAccess": True, **s3}},
        )
        way = storage.access(catalog, builders.engines()[self.lake.engine.id])
        job = self.lake.job(operation, **member)
        job["catalog"] |= {"warehouse": catalog.spec.warehouse, "options": dict(way.catalog_options)}
        job["hadoop"] = dict(way.hadoop_options)
        return job, {each.name: each.value for each in way.variables if each.value is not None}

    def provision(self, s3: dict[str, Any]) -> Exited:
        body = {"columns": COLUMNS, "primaryKeys": ["id"], "options": {"bucket": "1"}, "adoption": "Fail"}
        return self.drive("Provision", s3, provision=body)

    def write(self, s3: dict[str, Any], what: str = "one") -> Exited:
        """Loads one more file, whose one row replaces that of the file before."""
        body = f"id,what\n1,{what}\n".encode()
        self.server.client().put_object(Bucket="landing", Key=f"orders/{what}.csv", Body=body)
        ledger = "s3://lake/warehouse/.paimon-operator/shop.orders/import"
        body = self.lake.write_job(location="s3://landing/", ledger=ledger)["write"]
        return self.drive("Write", s3, write=body)

    def works(self, s3: dict[str, Any]) -> None:
        """A table is made, loaded from the landing bucket, and read by somebody else."""
        for done in (self.provision(s3), self.write(s3)):
            assert done.code == 0, done.log
        assert self.rows() == [{"id": 1, "what": "one"}]

    def rows(self) -> list[dict[str, Any]]:
        """As pypaimon reads them: from the same directory without TLS, because it can be told of no authority."""
        with s3_server(self.lake.directory) as plain:
            return lake_reader.read_rows("s3://lake/warehouse", "shop", "orders", env=plain.reader_environment)


def identity(gate: Gate) -> dict[str, str]:
    """What EKS Pod Identity puts into the environment of a Pod: an address that is answered on the node."""
    return {
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{gate.endpoint}{CREDENTIALS}",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN": WORKLOAD_TOKEN,
    }
