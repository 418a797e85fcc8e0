"""The configuration files of an HDFS, for its servers and for its clients."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import escape

from tests.cluster.hdfs import realm
from tests.cluster.hdfs.realm import Realm
from tests.cluster.progress import run

PORTS = ("rpc", "web", "data", "datanode-web", "datanode-rpc")
TOKEN_SECONDS = 60
"""Lifetime of an executor's delegation token, in seconds; Hadoop's defaults are a day and a week."""
_PASSWORD = "throw-away"  # of a key that never leaves the machine


def core_site(address: str, rpc: int, *, secure: bool) -> dict[str, str]:
    """Returns core-site.xml, which servers and clients share."""
    site = {"fs.defaultFS": f"hdfs://{address}:{rpc}", "hadoop.security.token.service.use_ip": "true"}
    if secure:
        site["hadoop.security.authentication"] = "kerberos"
        site["hadoop.security.authorization"] = "true"
        site["hadoop.rpc.protection"] = "authentication"
    return site


def client_site(*, secure: bool) -> dict[str, str]:
    """Returns a client's hdfs-site.xml."""
    site = {"dfs.replication": "1"}
    if secure:
        site["dfs.namenode.kerberos.principal"] = f"{realm.SERVER}@{realm.NAME}"
        site["dfs.data.transfer.protection"] = "authentication"
    return site


def server_site(home: Path, address: str, ports: Mapping[str, int], secured_by: Realm | None) -> dict[str, str]:
    """Returns the servers' hdfs-site.xml."""
    web = "https" if secured_by else "http"
    site = {
        **client_site(secure=secured_by is not None),
        "dfs.namenode.name.dir": (home / "namenode").as_uri(),
        "dfs.datanode.data.dir": (home / "datanode").as_uri(),
        "dfs.namenode.rpc-address": f"{address}:{ports['rpc']}",
        f"dfs.namenode.{web}-address": f"{address}:{ports['web']}",
        "dfs.datanode.address": f"{address}:{ports['data']}",
        f"dfs.datanode.{web}.address": f"{address}:{ports['datanode-web']}",
        "dfs.datanode.ipc.address": f"{address}:{ports['datanode-rpc']}",
        "dfs.datanode.hostname": address,
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
        "dfs.namenode.safemode.extension": "0",
        "dfs.namenode.safemode.min.datanodes": "1",
        # The NameNode takes a stopped DataNode for dead after 20 s instead of ten minutes.
        "dfs.heartbeat.interval": "1",
        "dfs.namenode.heartbeat.recheck-interval": "5000",
    }
    return site if secured_by is None else {**site, **_secured(secured_by)}


def _secured(by: Realm) -> dict[str, str]:
    site = {
        "dfs.block.access.token.enable": "true",
        "dfs.namenode.delegation.token.renew-interval": str(TOKEN_SECONDS * 1000),
        "dfs.namenode.delegation.token.max-lifetime": str(TOKEN_SECONDS * 1000),
        "dfs.http.policy": "HTTPS_ONLY",  # with it a DataNode needs no port below 1024
        "dfs.web.authentication.kerberos.principal": f"{realm.WEB}@{realm.NAME}",
        "dfs.web.authentication.kerberos.keytab": str(by.keytab(realm.WEB)),
    }
    for server in ("namenode", "datanode"):
        site[f"dfs.{server}.kerberos.principal"] = f"{realm.SERVER}@{realm.NAME}"
        site[f"dfs.{server}.keytab.file"] = str(by.keytab(realm.SERVER))
    return site


def write_web_key(conf: Path, address: str) -> None:
    """Creates the key of the servers' web pages and the files that refer to it."""
    store = conf / "web.p12"
    command = ["keytool", "-genkeypair", "-alias", "web", "-keyalg", "EC", "-dname", "CN=namenode", "-validity", "30"]
    run([*command, "-ext", f"san=ip:{address}", "-storepass", _PASSWORD, "-keystore", str(store)])
    for side in ("server", "client"):
        pairs = {f"ssl.{side}.{what}.location": str(store) for what in ("keystore", "truststore")}
        pairs |= {f"ssl.{side}.{what}": _PASSWORD for what in ("keystore.password", "keystore.keypassword")}
        pairs[f"ssl.{side}.truststore.password"] = _PASSWORD
        (conf / f"ssl-{side}.xml").write_text(xml(pairs))


def xml(pairs: Mapping[str, str]) -> str:
    """Returns the text of a Hadoop configuration file."""
    lines = [
        f"<property><name>{escape(key)}</name><value>{escape(value)}</value></property>" for key, value in pairs.items()
    ]
    return "\n".join(["<configuration>", *lines, "</configuration>", ""])
