"""Access to S3 on the node by identity, by a file of keys and by temporary keys, and a private authority."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tests.cluster.layout import NODE_ADDRESS, Layout
from tests.cluster.services import authority
from tests.e2e import cloud
from tests.e2e.lab import Lab, committed, once
from tests.e2e.lifecycle import KEYS, ShortLife, drop, live, load, rows
from tests.e2e.outages import dedicated_s3_of
from tests.support import secret_values
from tests.support.kubectl import Kubectl, Object, condition
from tests.support.s3_token_gate import Gate

pytestmark = pytest.mark.xdist_group("cloud")
"""In turn: they have one cloud in common."""

BY_CLOUD = {"endpoint": cloud.GATE, "caConfigMapRef": {"name": "lake-ca"}}
ROLE = "arn:aws:iam::111122223333:role/lake"
EXECUTORS, DRIVERS = "lake-spark", "paimon-driver-lake"
"""The accounts that the catalog names."""


@dataclass(frozen=True, kw_only=True)
class Way(Lab):
    """A lab whose catalog goes to S3 in this way; what it names is made beside it."""

    s3_member: Mapping[str, Any]
    spark_member: Mapping[str, Any]

    def catalog(self, name: str = "lake", **spec: Any) -> Object:
        made = super().catalog(name, **spec)
        s3 = made["spec"]["storage"]["s3"]
        del s3["credentialsSecretRef"]
        s3 |= self.s3_member
        made["spec"]["spark"] = {**made["spec"]["spark"], **self.spark_member}
        return made


def way(lab: Lab, s3: Object, *objects: Object, **spark: str) -> Way:
    """The lab with this catalog in the place of its own, and without its Secret."""
    lab.kubectl.delete("secret", "lake-s3")
    made = Way(kubectl=lab.kubectl, env=lab.env, engine=lab.engine, s3_member=s3, spark_member=spark)
    made.kubectl.apply(*objects, made.catalog())
    return made


def authorities(lab: Lab) -> Object:
    """Returns the ConfigMap of caConfigMapRef."""
    text = authority(Layout()).certificate.read_text()
    metadata = {"name": "lake-ca", "namespace": lab.namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"ca.crt": text}}


@pytest.fixture(scope="module")
def served(cluster_env: Mapping[str, str]) -> Iterator[None]:
    """Runs the cloud beside the node."""
    assert cluster_env, "the node is up"
    service = cloud.service()
    service.start(Layout())
    try:
        service.wait(Layout())
        yield
    finally:
        service.stop(Layout())


@contextmanager
def identities(lab: Lab) -> Iterator[Lab]:
    """Gives Pods of this namespace an identity if their account names a role."""
    admin = Kubectl(namespace="default", env=lab.env)
    admin.apply(cloud.webhook(lab.namespace))
    yield lab
    admin.delete("mutatingwebhookconfiguration", f"identity-{lab.namespace}")


@pytest.fixture
def identified(served: None, lab: Lab) -> Iterator[Lab]:
    with identities(lab) as made:
        yield made


def accounts(lab: Lab) -> tuple[Object, ...]:
    """Returns the accounts that an administrator creates for a catalog with identities (docs/storage.md)."""

    def account(name: str) -> Object:
        metadata = {"name": name, "namespace": lab.namespace, "annotations": {cloud.ROLE: ROLE}}
        return {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": metadata,
            "automountServiceAccountToken": False,
        }

    group = "rbac.authorization.k8s.io"
    binding = {
        "apiVersion": f"{group}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": DRIVERS, "namespace": lab.namespace},
        "roleRef": {"apiGroup": group, "kind": "Role", "name": "paimon-driver"},
        "subjects": [{"kind": "ServiceAccount", "name": DRIVERS, "namespace": lab.namespace}],
    }
    return account(EXECUTORS), account(DRIVERS), binding


def by_identity(lab: Lab) -> Way:
    """A lab whose Pods get temporary keys from STS for a token of the kubelet."""
    named = {"serviceAccountName": EXECUTORS, "driverServiceAccountName": DRIVERS}
    return way(lab, BY_CLOUD, authorities(lab), *accounts(lab), **named)


@pytest.mark.usefixtures("served")
class TestLifeByIdentity(ShortLife):
    @pytest.fixture(scope="class")
    @classmethod
    def lived(cls, class_lab: Lab) -> Iterator[Lab]:
        with identities(class_lab):
            yield by_identity(class_lab)

    def check_loaded(self, lived: Lab) -> None:
        assert lived.kubectl.list("secret") == []


@pytest.mark.long
def test_the_life_cycle_of_a_table_with_the_identity_of_its_pods_and_no_secret(identified: Lab) -> None:
    lab = by_identity(identified)

    live(lab)

    assert lab.kubectl.list("secret") == []
    drop(lab)


@pytest.mark.long
def test_an_account_without_a_role_is_reported(identified: Lab) -> None:
    lab = way(identified, BY_CLOUD, authorities(identified))
    lab.kubectl.apply(lab.table("t", {"id": "BIGINT"}))

    stalled = lab.kubectl.until_condition("t", "Stalled", "True")

    assert stalled["reason"] == "SecretNotFound"
    failure = (lab.kubectl.get("paimontable", "t") or {})["status"]["provision"]["failure"]
    assert failure["field"] == "spec.spark.serviceAccountName"


@pytest.fixture
def by_file(lab: Lab) -> Iterator[Way]:
    """A lab with keys in a mounted file and a server with a certificate of a private authority."""
    keys = {key: lab.env[key] for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
    file = "[default]\n" + "".join(f"{name.lower()} = {value}\n" for name, value in keys.items())
    secret = lab.secret("lake-file") | {"stringData": {"credentials": file}}
    identity = authority(Layout()).issue("s3", user="s3", hosts=(f"IP:{NODE_ADDRESS}",))
    with dedicated_s3_of(lab, identity) as dedicated_s3:
        s3 = {
            "endpoint": dedicated_s3.endpoint,
            "credentialsFileSecretRef": {"name": "lake-file"},
            "caConfigMapRef": {"name": "lake-ca"},
        }
        yield way(lab, s3, secret, authorities(lab))


@pytest.mark.long
def test_a_table_is_loaded_with_a_file_of_keys_from_a_server_of_a_private_authority(by_file: Way) -> None:
    load(by_file, 1)
    assert len(rows(by_file)) == KEYS


@pytest.mark.long
def test_the_life_cycle_of_a_table_with_a_file_of_keys_on_a_server_of_a_private_authority(by_file: Way) -> None:
    live(by_file)
    drop(by_file)


@pytest.mark.long
@pytest.mark.usefixtures("served")
def test_temporary_keys_need_their_session_token(lab: Lab, *, by_an_edit: bool) -> None:
    keys = {
        "AWS_ACCESS_KEY_ID": Gate.access_key_id,
        "AWS_SECRET_ACCESS_KEY": Gate.secret_access_key,
        "AWS_SESSION_TOKEN": "of-yesterday",
    }
    secret_values.register({"AWS_SECRET_ACCESS_KEY": Gate.secret_access_key, "AWS_SESSION_TOKEN": Gate.token})
    secret = lab.secret("temporary") | {"stringData": keys}
    made = way(lab, BY_CLOUD | {"credentialsSecretRef": {"name": "temporary"}}, secret, authorities(lab))
    made.land("in/1.json", [{"id": 1}])
    columns, writes = {"id": "BIGINT"}, [once("import", "in/1.json", mode="Append")]
    made.kubectl.apply(made.table("t", columns, writes=writes))

    stalled = made.kubectl.until_condition("t", "Stalled", "True")
    assert stalled["reason"] == "CredentialsRefused"

    made.kubectl.apply(secret | {"stringData": keys | {"AWS_SESSION_TOKEN": Gate.token}})
    if by_an_edit:
        columns["later"] = "INT"
        made.kubectl.apply(made.table("t", columns, writes=writes))
    made.kubectl.until("paimontable", "t", lambda o: bool(committed(o)), what="loaded")
    assert [row["id"] for row in made.rows("t")] == [1]
    assert condition(made.kubectl.get("paimontable", "t"), "Ready")["status"] == "True"
