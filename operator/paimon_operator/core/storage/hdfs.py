"""HDFS: its configuration files and the keytab as files of the Pod, who the Pod is in its environment.

Spark's side reads the files, bounds the waiting where they do not, and logs in.
"""

from __future__ import annotations

from typing import Final

from paimon_contract import environment
from paimon_operator.api.catalog.hdfs import Hdfs, Kerberos
from paimon_operator.core.storage.access import ROOT, Access, Mount, ValueSource, Variable

_SITES: Final = ("core-site.xml", "hdfs-site.xml")
_KEYTAB: Final = "keytab"
_KRB5: Final = "krb5.conf"


def access(hdfs: Hdfs) -> Access:
    """The cluster's own files, the catalog's options, and an identity: a keytab, or just a name."""
    way = Access(hadoop_options=hdfs.options or {})
    if hdfs.config_map_ref is not None:
        way += _sites(hdfs.config_map_ref.name)
    if hdfs.kerberos is not None:
        return way + _logged_in(hdfs.kerberos)
    return way + Access(variables=(Variable(name=environment.HADOOP_USER_NAME, value=hdfs.user),)) if hdfs.user else way


def _sites(config_map: str) -> Access:
    path = f"{ROOT}/hadoop"
    return Access(
        variables=(Variable(name=environment.HADOOP_CONF_DIR, value=path),),
        mounts=(
            Mount(
                volume="hadoop", source=ValueSource.CONFIG_MAP, name=config_map, path=path, items={f: f for f in _SITES}
            ),
        ),
    )


def _logged_in(kerberos: Kerberos) -> Access:
    keytab, krb5 = f"{ROOT}/keytab", f"{ROOT}/krb5"
    secret, config_map = kerberos.keytab_secret_ref.name, kerberos.krb5_config_map_ref.name
    return Access(
        # Whatever the files say: with a keytab, a cluster that asks for no ticket is not the one that was meant.
        hadoop_options={"hadoop.security.authentication": "kerberos"},
        variables=(
            Variable(name=environment.KRB5_CONFIG, value=f"{krb5}/{_KRB5}"),
            Variable(name=environment.KRB5PRINCIPAL, value=kerberos.principal),
            Variable(name=environment.KRB5KEYTAB, value=f"{keytab}/{_KEYTAB}"),
        ),
        mounts=(
            Mount(volume="keytab", source=ValueSource.SECRET, name=secret, path=keytab, items={_KEYTAB: _KEYTAB}),
            Mount(volume="krb5", source=ValueSource.CONFIG_MAP, name=config_map, path=krb5, items={_KRB5: _KRB5}),
        ),
    )
