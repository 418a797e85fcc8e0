"""A warehouse on HDFS, with or without Kerberos."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from paimon_operator.api.base import ApiModel, LocalRef, OptionValue, rule, validated

_PART: Final = "[A-Za-z0-9][A-Za-z0-9._-]*"

ALLOWED_PREFIXES: Final = ("dfs.client.", "ipc.client.")
ALLOWED: Final = (
    "dfs.blocksize", "dfs.bytes-per-checksum", "dfs.checksum.type", "dfs.data.transfer.protection",
    "dfs.datanode.socket.write.timeout", "dfs.replication", "hadoop.rpc.protection", "io.file.buffer.size",
)  # fmt: skip
"""What a catalog may set beside its configuration files. None of them holds a secret or names a local path."""

_NAMES_CODE: Final = "dfs.client.failover.proxy.provider."
_BY_PREFIX: Final = " || ".join(f"k.startsWith('{prefix}')" for prefix in ALLOWED_PREFIXES)
_BY_NAME: Final = ", ".join(f"'{name}'" for name in ALLOWED)
_PERMITTED: Final = f"((({_BY_PREFIX}) && !k.startsWith('{_NAMES_CODE}')) || k in [{_BY_NAME}])"

HdfsOptions = Annotated[
    dict[str, OptionValue],
    Field(
        max_length=40,
        json_schema_extra={
            "x-kubernetes-validations": [
                rule(
                    f"self.all(k, {_PERMITTED})",
                    "only options of the HDFS client may be set: dfs.client.*, ipc.client.* and a few more; where the"
                    " servers are stands in the ConfigMap",
                    reason="FieldValueForbidden",
                    message_expression=f"'option ' + self.filter(k, !{_PERMITTED})[0] + ' is not one that may be set:"
                    " the page of storage lists them; where the servers are stands in the ConfigMap'",
                )
            ]
        },
    ),
]
"""Option -> value as text."""


class Kerberos(ApiModel):
    """How the Spark pods log in."""

    principal: Annotated[str, Field(pattern=f"^{_PART}(/{_PART})?@{_PART}$", max_length=253)]
    """Who the Spark pods are, with the realm: paimon@EXAMPLE.COM."""
    keytab_secret_ref: LocalRef
    """Secret with the key `keytab`: the keys of the principal. Only the Spark pods get it."""
    krb5_config_map_ref: LocalRef
    """ConfigMap with the key `krb5.conf`: where the realm's KDC is."""


class Hdfs(ApiModel):
    """An HDFS. Without Kerberos it believes whatever name a client gives."""

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
    """ConfigMap with the keys core-site.xml and hdfs-site.xml, as the cluster's own clients have them. It may be absent
    for one NameNode without Kerberos, which the warehouse names with its port."""
    user: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9._-]*$", min_length=1, max_length=64)] | None = None
    """Who the Spark pods say they are, where there is no Kerberos. Absent: spark."""
    options: HdfsOptions | None = None
    """Options of the HDFS client. They go before the ConfigMap's files."""
    kerberos: Kerberos | None = None
    """Log in with Kerberos."""
