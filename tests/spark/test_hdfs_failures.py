"""Failures of an HDFS or of its authentication end a driver soon, with one sentence that names the field."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from paimon_contract.exit_codes import EXIT_CODES
from spark_apps.storage.hadoop import BOUNDED
from tests.cluster.hdfs import realm
from tests.cluster.hdfs.realm import Realm
from tests.cluster.ports import free_ports
from tests.spark.hdfs_lake import HdfsLake

TABLE = {"columns": [{"name": "id", "type": "BIGINT"}], "adoption": "Fail", "options": {"bucket": "-1"}}


def failure(lake: HdfsLake, class_: str, reason: str, *, warehouse: str = "", **env: str) -> tuple[str | None, str]:
    """Returns field and message of a driver that must fail to provision a table."""
    job = lake.job("Provision", provision=TABLE)
    if warehouse:
        job["catalog"]["warehouse"] = warehouse
    done = lake.drive(job, **env)
    assert done.result is not None, done.log
    error: dict[str, Any] = done.result["error"]
    assert (done.code, error["class"], error["reason"]) == (EXIT_CODES[class_], class_, reason), done.log
    assert error["remedy"]
    return error.get("field"), error["message"]


def kdc_of(lake: HdfsLake) -> Realm:
    assert lake.hdfs.realm is not None
    return lake.hdfs.realm


def test_an_unreachable_namenode(simple: HdfsLake) -> None:
    (port,) = free_ports(1)
    field, message = failure(
        simple, "Infrastructure", "StorageUnreachable", warehouse=f"hdfs://127.0.0.1:{port}/lake/x"
    )
    assert field == "spec.warehouse"
    assert f"(NameNode 127.0.0.1:{port}): " in message
    assert "Connection refused" in message


@pytest.mark.long
def test_a_nameservice_without_a_configuration(simple: HdfsLake) -> None:
    field, message = failure(simple, "Infrastructure", "StorageUnreachable", warehouse="hdfs://nowhere/lake")
    assert field == "spec.warehouse"
    assert "nowhere" in message


@pytest.mark.long
def test_an_invalid_configuration_file(simple: HdfsLake) -> None:
    conf = simple.directory / "hadoop"
    conf.mkdir()
    (conf / "core-site.xml").write_text("<configuration><property>")
    field, message = failure(simple, "Environment", "ConfigurationRefused")
    assert field == "spec.storage.hdfs.configMapRef"
    assert "core-site.xml" in message


@pytest.mark.long
def test_a_user_without_the_right(simple: HdfsLake) -> None:
    field, message = failure(simple, "Environment", "AccessDenied", HADOOP_USER_NAME=realm.STRANGER)
    assert field == "spec.storage.hdfs.user"
    assert f"user={realm.STRANGER}" in message


def test_a_principal_without_the_right(secure: HdfsLake) -> None:
    stranger = {
        "KRB5PRINCIPAL": f"{realm.STRANGER}@{realm.NAME}",
        "KRB5KEYTAB": str(kdc_of(secure).keytab(realm.STRANGER)),
    }
    field, message = failure(secure, "Environment", "AccessDenied", **stranger)
    assert field == "spec.storage.hdfs.kerberos.principal"
    assert f"user={realm.STRANGER}" in message


@pytest.mark.long
def test_safe_mode(simple: HdfsLake) -> None:
    simple.hdfs.administer("-safemode", "enter")
    try:
        _, message = failure(simple, "Infrastructure", "StorageUnreachable")
    finally:
        simple.hdfs.administer("-safemode", "leave")
    assert "safe mode" in message


@pytest.mark.long
def test_no_datanode(simple: HdfsLake) -> None:
    simple.hdfs.datanode.stop()
    try:
        _, message = failure(simple, "Infrastructure", "StorageUnreachable")
    finally:
        simple.hdfs.start_datanode()
    assert "No DataNode serves the files" in message


@pytest.mark.long
def test_an_exhausted_quota(simple: HdfsLake) -> None:
    simple.hdfs.shell("-mkdir", "-p", simple.warehouse)
    simple.hdfs.shell("-chown", realm.USER, simple.warehouse)
    simple.hdfs.administer("-setQuota", "2", simple.warehouse)
    _, message = failure(simple, "Infrastructure", "DiskFull")
    assert "quota" in message


def test_a_catalog_without_a_keytab_on_an_hdfs_with_kerberos(secure: HdfsLake) -> None:
    """The configuration requires Kerberos; the catalog has no keytab."""
    field, _ = failure(secure, "Environment", "CredentialsRefused", KRB5PRINCIPAL="", KRB5KEYTAB="")
    assert field == "spec.storage.hdfs.kerberos"


@pytest.mark.long
def test_a_keytab_of_another_principal(secure: HdfsLake) -> None:
    field, message = failure(
        secure, "Environment", "CredentialsRefused", KRB5KEYTAB=str(kdc_of(secure).keytab(realm.STRANGER))
    )
    assert field == "spec.storage.hdfs.kerberos.keytabSecretRef"
    assert f"{realm.USER}@{realm.NAME}" in message


def test_a_keytab_with_outdated_keys(secure: HdfsLake) -> None:
    kdc = kdc_of(secure)
    kdc.administer(
        "addprinc -randkey changed", f"ktadd -k {secure.directory}/changed.keytab changed", "cpw -randkey changed"
    )
    field, _ = failure(
        secure,
        "Environment",
        "CredentialsRefused",
        KRB5PRINCIPAL=f"changed@{realm.NAME}",
        KRB5KEYTAB=f"{secure.directory}/changed.keytab",
    )
    assert field == "spec.storage.hdfs.kerberos.keytabSecretRef"


@pytest.mark.long
def test_a_principal_unknown_to_the_kdc(secure: HdfsLake) -> None:
    kdc = kdc_of(secure)
    keytab = secure.directory / "gone.keytab"
    kdc.administer("addprinc -randkey gone", f"ktadd -k {keytab} gone", "delprinc -force gone")
    field, message = failure(
        secure, "Environment", "CredentialsRefused", KRB5PRINCIPAL=f"gone@{realm.NAME}", KRB5KEYTAB=str(keytab)
    )
    assert field == "spec.storage.hdfs.kerberos.keytabSecretRef"
    assert "not found in Kerberos database" in message


@pytest.mark.long
def test_a_krb5_conf_without_the_realm(secure: HdfsLake) -> None:
    other = secure.directory / "krb5.conf"
    other.write_text("[libdefaults]\n default_realm = OTHER.TEST\n dns_lookup_kdc = false\n")
    field, _ = failure(secure, "Environment", "CredentialsRefused", KRB5_CONFIG=str(other))
    assert field == "spec.storage.hdfs.kerberos.krb5ConfigMapRef"


@pytest.mark.long
def test_a_kdc_that_does_not_answer(secure: HdfsLake) -> None:
    (port,) = free_ports(1)
    elsewhere = secure.directory / "krb5.conf"
    elsewhere.write_text(kdc_of(secure).krb5_conf.read_text().replace(f":{kdc_of(secure).port}", f":{port}"))
    field, message = failure(secure, "Infrastructure", "StorageUnreachable", KRB5_CONFIG=str(elsewhere))
    assert field == "spec.storage.hdfs.kerberos.krb5ConfigMapRef"
    assert "The KDC does not answer" in message


@pytest.mark.long
def test_a_file_without_the_namenodes_principal(secure: HdfsLake) -> None:
    conf = secure.directory / "hadoop"
    conf.mkdir()
    (conf / "core-site.xml").write_text(secure.hdfs.client_files()["core-site.xml"])
    (conf / "hdfs-site.xml").write_text("<configuration/>")
    field, _ = failure(secure, "Environment", "CredentialsRefused")
    assert field == "spec.storage.hdfs.configMapRef"


@contextmanager
def silent_server() -> Iterator[int]:
    """Yields the port of a server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_namenode_that_does_not_answer(simple: HdfsLake) -> None:
    """The time-out of one call, below a minute, ends the driver."""
    with silent_server() as port:
        field, message = failure(
            simple, "Infrastructure", "StorageUnreachable", warehouse=f"hdfs://127.0.0.1:{port}/lake/x"
        )
    assert field == "spec.warehouse"
    assert BOUNDED["ipc.client.rpc-timeout.ms"] in message
