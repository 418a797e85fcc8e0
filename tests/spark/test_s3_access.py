"""Every kind of access to S3 of a catalog, with a real server. As in the operator, jobs are made from catalogs.

Each engine has its own S3 client, with other options and other error messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paimon_contract.exit_codes import EXIT_CODES
from tests.cluster.pki import Authority
from tests.spark.bucket import Bucket, identity
from tests.spark.lake import Lake
from tests.support.s3_server import s3_server
from tests.support.s3_token_gate import Gate
from tests.support.spark_process import Exited

SECRET: dict[str, Any] = {"credentialsSecretRef": {"name": "lake-s3"}}
FILE: dict[str, Any] = {"credentialsFileSecretRef": {"name": "lake-s3"}}
IDENTITY: dict[str, Any] = {}


@pytest.mark.newest_engine
def test_access_with_keys_in_a_mounted_file(bucket: Bucket) -> None:
    keys = "".join(f"{name.lower()} = {value}\n" for name, value in bucket.server.keys.items())
    bucket.env = {}
    bucket.mount("credentials/credentials", f"[default]\n{keys}")
    bucket.works(FILE)


@pytest.mark.long
def test_a_mounted_file_without_keys_is_reported_with_its_field(bucket: Bucket) -> None:
    bucket.env = {}
    bucket.mount("credentials/credentials", "[somebody]\naws_access_key_id = AKIA\n")
    error = _error(bucket.provision(FILE))
    assert (error["reason"], error["field"]) == ("SecretNotFound", "spec.storage.s3.credentialsFileSecretRef"), error


def test_access_with_temporary_keys_and_with_options_for_table_and_input(bucket: Bucket, gate: Gate) -> None:
    named = {"s3.user.agent.prefix": "of-the-table", "fs.s3a.user.agent.prefix": "of-the-input"}
    bucket.works(SECRET | {"endpoint": gate.endpoint, "options": named})
    for prefix in named.values():
        assert any(agent.startswith(prefix) for agent in gate.passed), gate.passed


@pytest.mark.long
def test_an_expired_session_token_is_reported_with_its_field(bucket: Bucket, gate: Gate) -> None:
    bucket.env["AWS_SESSION_TOKEN"] = "of-yesterday"
    error = _error(bucket.provision(SECRET | {"endpoint": gate.endpoint}))
    assert (error["reason"], error["field"]) == ("CredentialsRefused", "spec.storage.s3.credentialsSecretRef"), error


def test_access_with_the_identity_of_the_pod_and_no_secret(bucket: Bucket, gate: Gate) -> None:
    bucket.env = identity(gate)
    bucket.works(IDENTITY | {"endpoint": gate.endpoint})
    assert gate.fetched


@pytest.mark.long
def test_a_pod_without_an_identity_is_reported_with_its_field(bucket: Bucket) -> None:
    bucket.env = {"AWS_EC2_METADATA_DISABLED": "true"}
    error = _error(bucket.provision(IDENTITY))
    assert (error["reason"], error["field"]) == ("SecretNotFound", "spec.spark.serviceAccountName"), error


@pytest.fixture
def encrypted(lake: Lake) -> Iterator[Bucket]:
    authority = Authority(lake.directory / "pki")
    identity = authority.issue("s3", user="s3", hosts=("IP:127.0.0.1",))
    with s3_server(lake.directory, "lake", "landing", tls=identity, authority=authority.certificate) as server:
        yield Bucket(lake, server, dict(server.keys))


@pytest.mark.newest_engine
def test_access_to_a_server_of_a_private_authority(encrypted: Bucket) -> None:
    """ca.crt is a bundle with two private authorities and those of the system, which Java knows already."""
    other = Authority(encrypted.lake.directory / "other-pki").certificate.read_text()
    system = Path("/etc/ssl/certs/ca-certificates.crt").read_text()
    encrypted.mount("ca/ca.crt", f"Some other company\n{other}\n{system}{encrypted.server.authority_text}")
    scratch = encrypted.lake.directory / "scratch"
    scratch.mkdir()
    encrypted.env["TMPDIR"] = str(scratch)
    encrypted.works(SECRET | {"caConfigMapRef": {"name": "lake-ca"}})
    assert len(list((scratch / "authorities").glob("*.crt"))) == len([other, encrypted.server.authority_text])


@pytest.mark.long
def test_a_server_of_an_unknown_authority_is_reported_with_its_field(encrypted: Bucket) -> None:
    error = _error(encrypted.provision(SECRET))
    assert (error["reason"], error["field"]) == ("CertificateNotTrusted", "spec.storage.s3.caConfigMapRef"), error


@pytest.mark.long
@pytest.mark.newest_engine
def test_an_invalid_bundle_is_reported_with_its_field(bucket: Bucket) -> None:
    bucket.mount("ca/ca.crt", "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n")
    done = bucket.provision(SECRET | {"endpoint": "https://127.0.0.1:1", "caConfigMapRef": {"name": "lake-ca"}})
    assert done.code == EXIT_CODES["Environment"]
    assert "ca.crt of the catalog's caConfigMapRef" in done.log


@pytest.mark.long
@pytest.mark.newest_engine
def test_an_empty_bundle_is_reported_with_its_field(bucket: Bucket) -> None:
    bucket.mount("ca/ca.crt", "to be filled in\n")
    done = bucket.provision(SECRET | {"endpoint": "https://127.0.0.1:1", "caConfigMapRef": {"name": "lake-ca"}})
    assert done.code == EXIT_CODES["Environment"]
    assert "holds no certificate" in done.log


def _error(done: Exited) -> dict[str, Any]:
    assert done.result is not None, done.log
    error: dict[str, Any] = done.result["error"]
    return error
