"""The ways to S3 that a catalog can name, each with a real server. Jobs are made from catalogs, as in the operator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from paimon_operator.core import storage
from paimon_operator.core.storage.access import ROOT
from spark_apps.contract import EXIT_CODES
from tests.cluster.pki import Authority
from tests.spark.lake import Lake
from tests.support import builders, lake_reader
from tests.support.s3_server import REGION, S3Server, s3_server
from tests.support.s3_token_gate import CREDENTIALS, WORKLOAD_TOKEN, Gate, token_gate
from tests.support.spark_process import Exited

COLUMNS = [{"name": "id", "type": "BIGINT"}, {"name": "what", "type": "STRING"}]
SECRET: dict[str, Any] = {"credentialsSecretRef": {"name": "lake-s3"}}
FILE: dict[str, Any] = {"credentialsFileSecretRef": {"name": "lake-s3"}}
IDENTITY: dict[str, Any] = {}


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
        catalog = builders.catalog(
            warehouse="s3://lake/warehouse",
            storage={"s3": {"endpoint": self.server.endpoint, "region": REGION, "pathStyleAccess": True, **s3}},
        )
        way = storage.access(catalog, builders.engines()[self.lake.engine.id])
        job = self.lake.job(operation, **member)
        job["catalog"] |= {"warehouse": catalog.spec.warehouse, "options": dict(way.catalog_options)}
        job["hadoop"] = dict(way.hadoop_options)
        told = {each.name: each.value for each in way.variables if each.value is not None}
        files = {name: value.replace(ROOT, str(self.mounts)) for name, value in told.items()}
        return self.lake.drive(job, **files, **self.env)

    def provision(self, s3: dict[str, Any]) -> Exited:
        body = {"columns": COLUMNS, "primaryKeys": ["id"], "options": {"bucket": "1"}, "adoption": "Fail"}
        return self.drive("Provision", s3, provision=body)

    def write(self, s3: dict[str, Any]) -> Exited:
        self.server.client().put_object(Bucket="landing", Key="orders/1.csv", Body=b"id,what\n1,one\n")
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


@pytest.fixture
def bucket(lake: Lake) -> Iterator[Bucket]:
    with s3_server(lake.directory, "lake", "landing") as server:
        yield Bucket(lake, server, dict(server.keys))


@pytest.fixture
def gate(bucket: Bucket) -> Iterator[Gate]:
    """The same server for those who have temporary keys only."""
    with token_gate(bucket.server) as opened:
        bucket.env = {
            "AWS_ACCESS_KEY_ID": opened.access_key_id,
            "AWS_SECRET_ACCESS_KEY": opened.secret_access_key,
            "AWS_SESSION_TOKEN": opened.token,
        }
        yield opened


def test_keys_in_a_mounted_file(bucket: Bucket) -> None:
    keys = "".join(f"{name.lower()} = {value}\n" for name, value in bucket.server.keys.items())
    bucket.env = {}
    bucket.mount("credentials/credentials", f"[default]\n{keys}")
    bucket.works(FILE)


def test_a_mounted_file_without_keys_is_told_by_its_field(bucket: Bucket) -> None:
    bucket.env = {}
    bucket.mount("credentials/credentials", "[somebody]\naws_access_key_id = AKIA\n")
    error = _error(bucket.provision(FILE))
    assert (error["reason"], error["field"]) == ("SecretNotFound", "spec.storage.s3.credentialsFileSecretRef"), error


def test_temporary_keys_with_their_session_token_and_options_on_both_ways(bucket: Bucket, gate: Gate) -> None:
    named = {"s3.user.agent.prefix": "of-the-table", "fs.s3a.user.agent.prefix": "of-the-input"}
    bucket.works(SECRET | {"endpoint": gate.endpoint, "options": named})
    for prefix in named.values():
        assert any(agent.startswith(prefix) for agent in gate.passed), gate.passed


def test_a_session_token_of_yesterday_is_told_by_its_field(bucket: Bucket, gate: Gate) -> None:
    bucket.env["AWS_SESSION_TOKEN"] = "of-yesterday"
    error = _error(bucket.provision(SECRET | {"endpoint": gate.endpoint}))
    assert (error["reason"], error["field"]) == ("CredentialsRefused", "spec.storage.s3.credentialsSecretRef"), error


def test_the_identity_of_the_pod_without_any_secret(bucket: Bucket, gate: Gate) -> None:
    """As EKS Pod Identity gives it: an address in the environment, answered on the node."""
    bucket.env = {
        "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{gate.endpoint}{CREDENTIALS}",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN": WORKLOAD_TOKEN,
    }
    bucket.works(IDENTITY | {"endpoint": gate.endpoint})
    assert gate.fetched


def test_a_pod_without_an_identity_is_told_which_field_to_look_at(bucket: Bucket) -> None:
    bucket.env = {"AWS_EC2_METADATA_DISABLED": "true"}
    error = _error(bucket.provision(IDENTITY))
    assert (error["reason"], error["field"]) == ("SecretNotFound", "spec.spark.serviceAccountName"), error


@pytest.fixture
def encrypted(lake: Lake) -> Iterator[Bucket]:
    authority = Authority(lake.directory / "pki")
    identity = authority.issue("s3", user="s3", hosts=("IP:127.0.0.1",))
    with s3_server(lake.directory, "lake", "landing", tls=identity, authority=authority.certificate) as server:
        yield Bucket(lake, server, dict(server.keys))


def test_a_server_of_a_private_authority(encrypted: Bucket) -> None:
    """ca.crt is a bundle: with another company's, and with those of the system, which Java knows already."""
    other = Authority(encrypted.lake.directory / "other-pki").certificate.read_text()
    system = Path("/etc/ssl/certs/ca-certificates.crt").read_text()
    encrypted.mount("ca/ca.crt", f"Some other company\n{other}\n{system}{encrypted.server.authority_text}")
    scratch = encrypted.lake.directory / "scratch"
    scratch.mkdir()
    encrypted.env["TMPDIR"] = str(scratch)
    encrypted.works(SECRET | {"caConfigMapRef": {"name": "lake-ca"}})
    assert len(list((scratch / "authorities").glob("*.crt"))) == len([other, encrypted.server.authority_text])


def test_a_server_of_an_unknown_authority_is_told_by_its_field(encrypted: Bucket) -> None:
    error = _error(encrypted.provision(SECRET))
    assert (error["reason"], error["field"]) == ("CertificateNotTrusted", "spec.storage.s3.caConfigMapRef"), error


def test_a_bundle_that_holds_no_certificate_ends_the_driver_with_a_sentence(bucket: Bucket) -> None:
    bucket.mount("ca/ca.crt", "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n")
    done = bucket.provision(SECRET | {"endpoint": "https://127.0.0.1:1", "caConfigMapRef": {"name": "lake-ca"}})
    assert done.code == EXIT_CODES["Surroundings"]
    assert "ca.crt of the catalog's caConfigMapRef" in done.log


def test_a_bundle_without_any_certificate_too(bucket: Bucket) -> None:
    bucket.mount("ca/ca.crt", "to be filled in\n")
    done = bucket.provision(SECRET | {"endpoint": "https://127.0.0.1:1", "caConfigMapRef": {"name": "lake-ca"}})
    assert done.code == EXIT_CODES["Surroundings"]
    assert "holds no certificate" in done.log


def _error(done: Exited) -> dict[str, Any]:
    assert done.result is not None, done.log
    error: dict[str, Any] = done.result["error"]
    return error
