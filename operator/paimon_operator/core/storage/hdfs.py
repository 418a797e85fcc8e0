"""HDFS: its configuration files and the keytab as files of the Pod, its identity as environment variables.

The Spark side reads the files, adds bounds for waiting, and logs in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from paimon_contract import environment
from paimon_engines.engine import Engine
from paimon_operator.api.catalog.hdfs import Hdfs, Kerberos
from paimon_operator.core.storage.access import ROOT, Access, Mount, ValueSource, Variable
from paimon_operator.core.storage.base import StorageKind
from paimon_operator.core.storage.commit_protection import ATOMIC_RENAME, Protection

_SITES: Final = ("core-site.xml", "hdfs-site.xml")
_KEYTAB: Final = "keytab"
_KRB5: Final = "krb5.conf"


@dataclass(frozen=True)
class HdfsStorage(StorageKind):
    """A cluster of HDFS."""

    spec: Hdfs
    uses_pod_identity: ClassVar[bool] = False
    can_be_observed: ClassVar[bool] = True
    commit_protection: ClassVar[Protection] = ATOMIC_RENAME

    def access(self, engine: Engine) -> Access:
        """The cluster's own files, the catalog's options, and an identity: a keytab, or just a name."""
        del engine
        hdfs = self.spec
        access = Access(hadoop_options=hdfs.options or {})
        if hdfs.config_map_ref is not None:
            access += _sites(hdfs.config_map_ref.name)
        if hdfs.kerberos is not None:
            return access + _logged_in(hdfs.kerberos)
        return (
            access + Access(variables=(Variable(name=environment.HADOOP_USER_NAME, value=hdfs.user),))
            if hdfs.user
            else access
        )


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
