"""A warehouse on HDFS, with or without Kerberos."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from paimon_operator.api.base import ApiModel, LocalRef, OptionValue, rule, validated, with_rules

_PART: Final = "[A-Za-z0-9][A-Za-z0-9._-]*"

ALLOWED_PREFIXES: Final = ("dfs.client.", "ipc.client.")
ALLOWED: Final = (
    "dfs.blocksize", "dfs.bytes-per-checksum", "dfs.checksum.type", "dfs.data.transfer.protection",
    "dfs.datanode.socket.write.timeout", "dfs.replication", "hadoop.rpc.protection", "io.file.buffer.size",
)  # fmt: skip
"""Options that a catalog may set besides its configuration files. None holds a secret or names a local path."""

_NAMES_CODE: Final = (
    "dfs.client.failover.proxy.provider", "dfs.client.failover.resolver.impl", "dfs.client.https.keystore.resource",
    "dfs.client.replica.accessor.",
)  # fmt: skip
"""Beginnings of options that name a class or a file of keys."""
_CODE: Final = " || ".join(f"k.startsWith('{prefix}')" for prefix in _NAMES_CODE)
_BY_PREFIX: Final = " || ".join(f"k.startsWith('{prefix}')" for prefix in ALLOWED_PREFIXES)
_BY_NAME: Final = ", ".join(f"'{name}'" for name in ALLOWED)
_PERMITTED: Final = f"((({_BY_PREFIX}) && !({_CODE})) || k in [{_BY_NAME}])"


def is_permitted(key: str) -> bool:
    """Whether a catalog may set this option. The CRD's rule as a Python predicate."""
    return key in ALLOWED or (key.startswith(ALLOWED_PREFIXES) and not key.startswith(_NAMES_CODE))


HdfsOptions = Annotated[
    dict[str, OptionValue],
    Field(
        max_length=40,
        json_schema_extra=with_rules(
            rule(
                f"self.all(k, {_PERMITTED})",
                "only options of the HDFS client may be set: dfs.client.*, ipc.client.* and a few more; the"
                " ConfigMap names the servers",
                reason="FieldValueForbidden",
                message_expression=f"'option ' + self.filter(k, !{_PERMITTED})[0] + ' is not one that may be set:"
                " docs/storage.md lists them; the ConfigMap names the servers'",
            )
        ),
    ),
]
"""Option -> value as text."""


class Kerberos(ApiModel):
    """Kerberos login of the Spark Pods."""

    principal: Annotated[str, Field(pattern=f"^{_PART}(/{_PART})?@{_PART}$", max_length=253)]
    """Principal of the Spark Pods with its realm: paimon@EXAMPLE.COM."""
    keytab_secret_ref: LocalRef
    """Secret with the key `keytab`: the keys of the principal. Only the Spark Pods receive it."""
    krb5_config_map_ref: LocalRef
    """ConfigMap with the key `krb5.conf`, which names the KDC of the realm."""


class Hdfs(ApiModel):
    """An HDFS cluster. Without Kerberos it accepts any user name that a client sends."""

    model_config = validated(
        rule(
            "!(has(self.user) && has(self.kerberos))",
            "user must not be set with kerberos: its principal is the user",
            path=".user",
        ),
        rule(
            "!has(self.kerberos) || has(self.configMapRef)",
            "configMapRef must be set with kerberos: its hdfs-site.xml names the NameNode's principal",
            path=".configMapRef",
        ),
    )

    config_map_ref: LocalRef | None = None
    """ConfigMap with the keys core-site.xml and hdfs-site.xml of the cluster. It may be absent if the cluster has one
    NameNode and no Kerberos, and the warehouse names host and port."""
    user: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9._-]*$", min_length=1, max_length=64)] | None = None
    """HDFS user of the Spark Pods without Kerberos. Absent: spark."""
    options: HdfsOptions | None = None
    """Options of the HDFS client. They override the files of the ConfigMap."""
    kerberos: Kerberos | None = None
    """Kerberos login."""
