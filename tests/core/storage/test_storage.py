"""Options, variables and files that each type of storage adds to the Spark Pods."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.core import storage
from paimon_operator.core.storage.access import Access, Mount, SecretKey, ValueSource, Variable
from tests.support import builders

S3: dict[str, Any] = {"region": "eu-central-1"}
CATALOG_OPTIONS = {"s3.endpoint.region": "eu-central-1"}
INPUT_OPTIONS = {"fs.s3a.endpoint.region": "eu-central-1"}
KEYS = tuple(
    Variable(name=key, secret_key=SecretKey(secret="lake-s3", key=key, optional=key == "AWS_SESSION_TOKEN"))
    for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
)


def way(engine: str = "paimon-1.4", **s3: Any) -> Access:
    return storage.access(builders.catalog(storage={"s3": S3 | s3}), builders.engines()[engine])


def test_keys_of_a_secret_become_environment_variables() -> None:
    assert way(credentialsSecretRef={"name": "lake-s3"}) == Access(
        catalog_options=CATALOG_OPTIONS, hadoop_options=INPUT_OPTIONS, variables=KEYS
    )


def test_a_credentials_file_is_mounted_at_the_paths_that_both_sdks_read() -> None:
    found = way(credentialsFileSecretRef={"name": "lake-s3"})
    path = "/etc/paimon-storage/credentials"
    names = ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CREDENTIAL_PROFILES_FILE")
    assert found.variables == tuple(Variable(name=name, value=f"{path}/credentials") for name in names)
    assert found.mounts == (
        Mount(
            volume="credentials",
            source=ValueSource.SECRET,
            name="lake-s3",
            path=path,
            items={"credentials": "credentials"},
        ),
    )


@pytest.mark.parametrize(
    ("engine", "of_tables"),
    [
        ("paimon-0.9", "com.amazonaws.auth.DefaultAWSCredentialsProviderChain"),
        ("paimon-1.4", "software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider"),
    ],
)
def test_without_a_secret_the_engine_uses_the_identity_of_the_pod(engine: str, of_tables: str) -> None:
    found = way(engine)
    assert found.catalog_options["s3.aws.credentials.provider"] == of_tables
    assert found.hadoop_options["fs.s3a.aws.credentials.provider"] == (
        "com.amazonaws.auth.DefaultAWSCredentialsProviderChain"
    )
    assert (found.variables, found.mounts) == ((), ())


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ({"s3": S3}, True),
        ({"s3": S3 | {"caConfigMapRef": {"name": "ca"}}}, True),
        ({"s3": S3 | {"credentialsSecretRef": {"name": "keys"}}}, False),
        ({"s3": S3 | {"credentialsFileSecretRef": {"name": "keys"}}}, False),
        ({"claim": {"name": "lake"}}, False),
    ],
)
def test_only_s3_without_a_secret_uses_pod_identity(kind: dict[str, Any], *, expected: bool) -> None:
    """The service accounts that all catalogs share have no access there."""
    assert storage.lacks_executor_accounts(builders.catalog(storage=kind)) is expected


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("serviceAccountName", "driverServiceAccountName"), False),
        (("driverServiceAccountName",), True),
        (("serviceAccountName",), True),
    ],
)
def test_a_catalog_names_the_accounts_of_executors_and_of_their_drivers(
    names: tuple[str, ...], *, expected: bool
) -> None:
    spark = dict.fromkeys(names, "paimon-driver-lake")
    assert storage.lacks_executor_accounts(builders.catalog(storage={"s3": S3}, spark=spark)) is expected


def test_certificate_authorities_are_mounted_as_a_file() -> None:
    found = way(credentialsSecretRef={"name": "lake-s3"}, caConfigMapRef={"name": "lake-ca"})
    assert found.variables == (Variable(name="STORAGE_CA_FILE", value="/etc/paimon-storage/ca/ca.crt"), *KEYS)
    assert [(each.source, each.name) for each in found.mounts] == [(ValueSource.CONFIG_MAP, "lake-ca")]


def test_each_option_is_passed_on_by_its_prefix_and_none_overrides_a_field() -> None:
    given = {"s3.threads.max": "8", "fs.s3a.threads.max": "16", "fs.s3a.endpoint.region": "elsewhere"}
    found = way(credentialsSecretRef={"name": "lake-s3"}, options=given)
    assert found.catalog_options == CATALOG_OPTIONS | {"s3.threads.max": "8"}
    assert found.hadoop_options == INPUT_OPTIONS | {"fs.s3a.threads.max": "16"}


def test_a_volume_claim_is_mounted_as_a_writable_directory() -> None:
    catalog = builders.catalog(
        warehouse="file:///data/lake", storage={"claim": {"name": "disk"}}, locations=[]
    )  # fmt: skip
    assert storage.access(catalog, builders.engines()["paimon-1.4"]) == Access(
        mounts=(Mount(volume="warehouse", source=ValueSource.CLAIM, name="disk", path="/data"),)
    )
