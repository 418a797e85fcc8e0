"""Files of a catalog's ConfigMap can name the servers and how to wait for them, and nothing else."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from pathlib import Path

import pytest

from spark_apps.failures.errors import RunError
from spark_apps.storage.hadoop_files import check_krb5, read_directory, read_properties

NAMENODE = "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider"
NAMESERVICE = {
    "fs.defaultFS": "hdfs://lake",
    "dfs.nameservices": "lake,\n    other",
    "dfs.ha.namenodes.lake": "nn1, nn2",
    "dfs.namenode.rpc-address.lake.nn1": "nn1.example.com:8020",
    "dfs.namenode.rpc-address.lake.nn2": "[::1]:8020",
    "dfs.client.failover.proxy.provider.lake": NAMENODE,
    "dfs.client.use.datanode.hostname": "true",
    "ipc.client.connect.timeout": "10000",
}
KERBEROS = {
    "hadoop.security.authentication": "kerberos",
    "hadoop.security.authorization": "true",
    "hadoop.rpc.protection": "authentication,privacy",
    "dfs.data.transfer.protection": "privacy",
    "dfs.encrypt.data.transfer.cipher.suites": "AES/CTR/NoPadding",
    "dfs.namenode.kerberos.principal": "nn/_HOST@EXAMPLE.COM",
    "dfs.namenode.kerberos.principal.pattern": "*",
    "hadoop.security.auth_to_local": "RULE:[1:$1@$0](.*@OTHER)s/@.*//\nDEFAULT",
    "dfs.encryption.key.provider.uri": "kms://https@kms.example.com:9600/kms",
}


def xml(properties: dict[str, str], head: str = "", tail: str = "") -> bytes:
    body = "".join(
        f"<property><name>{key}</name><value>{value}</value></property>" for key, value in properties.items()
    )
    return f"{head}<configuration>{body}{tail}</configuration>".encode()


def read(content: bytes) -> dict[str, str]:
    return {each.key: each.value for each in read_properties("core-site.xml", content)}


def refused(content: bytes) -> str:
    with pytest.raises(RunError) as error:
        read(content)
    assert (error.value.kind, error.value.reason) == ("Environment", "ConfigurationRefused")
    assert error.value.field == "spec.storage.hdfs.configMapRef"
    assert error.value.remedy
    return str(error.value)


@pytest.mark.parametrize("properties", [NAMESERVICE, KERBEROS], ids=["nameservice", "kerberos"])
def test_what_a_client_needs_is_used(properties: dict[str, str]) -> None:
    assert read(xml(properties, head='<?xml version="1.0"?><?xml-stylesheet href="a.xsl"?><!-- ours -->')) == properties


@pytest.mark.parametrize(
    "key",
    [
        "io.compression.codecs", "fs.hdfs.impl", "hadoop.security.group.mapping", "hadoop.security.credential.provider.path",
        "hadoop.rpc.socket.factory.class.default", "hadoop.kerberos.kinit.command", "dfs.client.replica.accessor.builder.classes",
        "dfs.client.failover.resolver.impl", "dfs.client.failover.resolver.impl.lake", "dfs.client.https.keystore.resource",
        "dfs.namenode.name.dir", "net.topology.script.file.name", "hadoop.ssl.require.client.cert", "fs.s3a.access.key",
    ],
)  # fmt: skip
def test_other_keys_are_not_used_and_the_log_names_them(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert read(xml({key: "${env.AWS_SECRET_ACCESS_KEY}", **NAMESERVICE})) == NAMESERVICE
    assert f'"message": "core-site.xml: 1 keys are not used: {key}"' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("sentence", "content", "named"),
    [
        ("a variable", xml({"dfs.client.context": "${env.KEYTAB}"}), "dfs.client.context contains ${"),
        ("a variable inside", xml({"ipc.client.ping": "a${user.home}"}), "ipc.client.ping contains ${"),
        ("another class", xml({"dfs.client.failover.proxy.provider.lake": "com.example.Mine"}), "dfs.client.failover.proxy.provider.lake cannot be 'com.example.Mine'"),
        ("a local file system", xml({"fs.defaultFS": "file:///etc"}), "fs.defaultFS cannot be"),
        ("a local key store", xml({"hadoop.security.key.provider.path": "jceks://file/etc/passwd"}), "hadoop.security.key.provider.path cannot be"),
        ("XInclude", xml({}, tail='<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="/etc/passwd" parse="text"/>'), "<xi:include>"),
        ("an inclusion without a namespace", xml({}, tail='<include href="/etc/passwd"/>'), "<include>"),
        ("entities", xml({"fs.defaultFS": "&x;"}, head='<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>'), "document type"),
        ("an unknown entity", xml({"fs.defaultFS": "&x;"}), "cannot be read"),
        ("half a file", b"<configuration><property>", "cannot be read"),
        ("an empty file", b"", "cannot be read"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_a_file_may_not_do_is_refused_and_named(sentence: str, content: bytes, named: str) -> None:
    message = refused(content)
    assert message.startswith("core-site.xml of the catalog's ConfigMap: "), sentence
    assert named in message, sentence


def test_properties_may_be_attributes_and_a_final_one_stays(tmp_path: Path) -> None:
    core = '<configuration><property name="dfs.replication" value="2" final="true"/></configuration>'
    (tmp_path / "core-site.xml").write_text(core)
    (tmp_path / "hdfs-site.xml").write_bytes(xml({"dfs.replication": "3", "dfs.blocksize": "128m"}))
    assert read_directory(tmp_path) == {"dfs.replication": "2", "dfs.blocksize": "128m"}
    (tmp_path / "core-site.xml").write_text(core.replace("final", "description"))
    assert read_directory(tmp_path)["dfs.replication"] == "3", "the second file overrides the first"


@pytest.mark.parametrize(
    "line",
    [
        "include /etc/passwd",
        "  includedir /etc/krb5.conf.d/",
        "\x01include /etc/passwd",
        "\x0b\x1c include /etc/passwd",
        "module /tmp/x.so:y",
    ],
)
def test_a_krb5_conf_that_reads_other_files_is_refused(tmp_path: Path, line: str) -> None:
    file = tmp_path / "krb5.conf"
    file.write_text("# include nothing\n[libdefaults]\n  default_realm = EXAMPLE.COM\n")
    check_krb5(file)
    file.write_text(f"[libdefaults]\n{line}\n")
    with pytest.raises(RunError) as error:
        check_krb5(file)
    assert (error.value.reason, error.value.field) == (
        "ConfigurationRefused",
        "spec.storage.hdfs.kerberos.krb5ConfigMapRef",
    )
