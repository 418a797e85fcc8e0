"""A lake in buckets of a real S3 server. As in the operator, jobs are made from catalogs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paimon_operator.core import storage
from paimon_operator.core.storage.access import ROOT
from tests.cluster.s3 import REGION
from tests.spark.lake import Lake
from tests.support import builders, lake_reader
from tests.support.s3_server import S3Server, s3_server
from tests.support.s3_token_gate import CREDENTIALS, WORKLOAD_TOKEN, Gate
from tests.support.spark_process import Exited

COLUMNS = [{"name": "id", "type": "BIGINT"}, {"name": "what", "type": "STRING"}]


@dataclass
class Bucket:
    """A lake whose warehouse and landing folder are buckets of a real S3 server."""

    lake: Lake
    server: S3Server
    env: dict[str, str] = field(default_factory=dict)
    """Variables that the kubelet reads from a Secret or the cloud adds to the driver's environment."""

    @property
    def mounts(self) -> Path:
        """The directory that is /etc/paimon-storage in a Pod."""
        return self.lake.directory / "mounts"

    def mount(self, path: str, text: str) -> None:
        """Writes a file of a Secret or ConfigMap of the catalog."""
        file = self.mounts / path
        file.parent.mkdir(parents=True)
        file.write_text(text)

    def drive(self, operation: str, s3: dict[str, Any], **member: Any) -> Exited:
        """Performs one run of a catalog with this `s3` in a new process."""
        job, environment = self.job(operation, s3, **member)
        files = {name: value.replace(ROOT, str(self.mounts)) for name, value in environment.items()}
        return self.lake.drive(job, **files, **self.env)

    def job(self, operation: str, s3: dict[str, Any], **member: Any) -> tuple[dict[str, Any], dict[str, str]]:
        """Returns the job of such a run and its environment."""
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
        """Loads one more file, whose one row replaces the row of the previous file."""
        body = f"id,what\n1,{what}\n".encode()
        self.server.client().put_object(Bucket="landing", Key=f"orders/{what}.csv", Body=body)
        ledger = "s3://lake/warehouse/.paimon-operator/shop.orders/import"
        body = self.lake.write_job(location="s3://landing/", ledger=ledger)["write"]
        return self.drive("Write", s3, write=body)

    def works(self, s3: dict[str, Any]) -> None:
        """Provisions a table, loads a file from the landing bucket and reads the row with pypaimon."""
        for done in (self.provision(s3), self.write(s3)):
            assert done.code == 0, done.log
        assert self.rows() == [{"id": 1, "what": "one"}]

    def rows(self) -> list[dict[str, Any]]:
        """Returns the rows, read by pypaimon without TLS, because pypaimon has no option for an authority."""
        with s3_server(self.lake.directory) as plain:
            return lake_reader.read_rows("s3://lake/warehouse", "shop", "orders", env=plain.reader_environment)


def identity(gate: Gate) -> dict[str, str]:
    """Returns the variables of EKS Pod Identity, with the address of its agent on the node."""
    return {
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{gate.endpoint}{CREDENTIALS}",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN": WORKLOAD_TOKEN,
    }
