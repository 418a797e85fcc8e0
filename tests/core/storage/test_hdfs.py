"""A catalog on HDFS adds options to the job, and files and an identity to the Pod."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.core import storage
from paimon_operator.core.spec.identity import normalised
from paimon_operator.core.storage.access import Access, Mount, ValueSource
from tests.support import builders

SITES = Mount(
    volume="hadoop",
    source=ValueSource.CONFIG_MAP,
    name="hadoop-conf",
    path="/etc/paimon-storage/hadoop",
    items={"core-site.xml": "core-site.xml", "hdfs-site.xml": "hdfs-site.xml"},
)
KERBEROS = {
    "principal": "paimon@EXAMPLE.COM",
    "keytabSecretRef": {"name": "lake-keytab"},
    "krb5ConfigMapRef": {"name": "krb5"},
}


def catalog(**hdfs: Any) -> PaimonCatalog:
    return builders.catalog(warehouse="hdfs://lake/warehouse", storage={"hdfs": hdfs}, locations=[])


def way(**hdfs: Any) -> Access:
    return storage.access(catalog(**hdfs), builders.engines()["paimon-1.4"])


def environment(of: Access) -> dict[str, str | None]:
    assert all(each.secret_key is None for each in of.variables)
    return {each.name: each.value for each in of.variables}


def test_a_single_namenode_without_authentication_needs_only_a_uri() -> None:
    assert way() == Access()


def test_configuration_files_are_mounted_and_the_user_name_is_set() -> None:
    found = way(configMapRef={"name": "hadoop-conf"}, user="paimon")
    assert environment(found) == {"HADOOP_CONF_DIR": SITES.path, "HADOOP_USER_NAME": "paimon"}
    assert found.mounts == (SITES,)


def test_options_are_passed_to_hadoop_only() -> None:
    found = way(options={"dfs.replication": "2"})
    assert (dict(found.catalog_options), dict(found.hadoop_options)) == ({}, {"dfs.replication": "2"})


def test_a_keytab_is_mounted_and_kerberos_is_required() -> None:
    found = way(configMapRef={"name": "hadoop-conf"}, kerberos=KERBEROS)
    assert environment(found) == {
        "HADOOP_CONF_DIR": SITES.path,
        "KRB5_CONFIG": "/etc/paimon-storage/krb5/krb5.conf",
        "KRB5PRINCIPAL": "paimon@EXAMPLE.COM",
        "KRB5KEYTAB": "/etc/paimon-storage/keytab/keytab",
    }
    assert found.hadoop_options == {"hadoop.security.authentication": "kerberos"}
    assert [(each.source, each.name, dict(each.items)) for each in found.mounts[1:]] == [
        (ValueSource.SECRET, "lake-keytab", {"keytab": "keytab"}),
        (ValueSource.CONFIG_MAP, "krb5", {"krb5.conf": "krb5.conf"}),
    ]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("hdfs://nn/lake", "hdfs://nn:8020/lake", True),
        ("hdfs://NN:8020/lake", "hdfs://nn/lake/", True),
        ("hdfs://nn:8020/lake", "hdfs://nn:8021/lake", False),
        ("hdfs://nn/Lake", "hdfs://nn/lake", False),
    ],
)
def test_warehouses_are_equal_after_normalisation(one: str, other: str, *, same: bool) -> None:
    """Paths are compared case-sensitively."""
    assert (normalised(one) == normalised(other)) is same
