"""Metastore of a catalog: the list of its tables, and the commit lock."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import Field

from paimon_operator.api.base import ApiModel, LocalRef, rule, validated

_PLAIN: Final = ("sslmode", "currentSchema", "targetServerType")
_FACTORY: Final = "org.postgresql.ssl.DefaultJavaSSLFactory"
_SECRETIVE: Final = ("user", "password", "passfile", "service", "sslkey", "sslpassword")
_PAIR: Final = rf"(({'|'.join(_PLAIN)})=[A-Za-z0-9._,-]+|sslfactory={_FACTORY.replace('.', '[.]')})"
"""A permitted parameter with its value. The JDBC driver takes the last of several, so each must be permitted."""
CREDENTIAL_PARAMETERS: Final = f"[?&]({'|'.join(_SECRETIVE)})="
"""Parameters of a JDBC uri that hold credentials."""
PERMITTED_PARAMETERS: Final = f"^[^?]*([?]{_PAIR}(&{_PAIR})*)?$"
"""JDBC uri whose parameters are all permitted."""
MAX_PORT: Final = 65535

NAMES_OF_HIVE: Final = "^[a-z0-9_]+$"
"""Names that Hive stores unchanged (MetaStoreUtils.validateName, lower case)."""


class MetastoreType(StrEnum):
    """Metastore: the list of the catalog's tables, and the commit lock."""

    FILESYSTEM = "Filesystem"
    JDBC = "Jdbc"
    HIVE = "Hive"


MEMBERS: Final = {MetastoreType.JDBC: "jdbc", MetastoreType.HIVE: "hive"}
"""Type -> the member of `metastore` that belongs to it; Filesystem has none."""


class Jdbc(ApiModel):
    """A PostgreSQL database."""

    model_config = validated(
        rule(
            f"!self.uri.contains('@') && !self.uri.matches('{CREDENTIAL_PARAMETERS}')",
            "uri must not contain credentials: put them as username and password into the Secret that"
            " credentialsSecretRef names",
            path=".uri",
            reason="FieldValueForbidden",
        ),
        rule(
            f"self.uri.matches('{PERMITTED_PARAMETERS}')",
            f"the parameters of uri may be: {', '.join(_PLAIN)}, and sslfactory={_FACTORY}, which trusts Java's"
            " authorities",
            path=".uri",
        ),
    )

    uri: Annotated[str, Field(pattern=r"^jdbc:postgresql://[^/?\s]+/[A-Za-z0-9_.-]+([?][^\s]*)?$", max_length=512)]
    """URI of the database: jdbc:postgresql://host:5432/name, optionally with ?sslmode=verify-full. Immutable."""
    credentials_secret_ref: LocalRef
    """Secret with the keys username and password. Only the driver Pods receive it, the password as a file. The operator
    never reads it."""


class Hive(ApiModel):
    """A Hive metastore server without authentication: no SASL, no TLS."""

    model_config = validated(
        rule(f"int(self.uri.find('[0-9]+$')) <= {MAX_PORT}", f"a port is at most {MAX_PORT}", path=".uri"),
    )

    uri: Annotated[
        str, Field(pattern=r"^thrift://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?:[1-9][0-9]{0,4}$", max_length=300)
    ]
    """URI of the server: thrift://host:9083. Immutable."""


class Metastore(ApiModel):
    """Metastore: the list of the catalog's tables, and the commit lock."""

    model_config = validated(
        *(
            each
            for kind, member in MEMBERS.items()
            for each in (
                rule(
                    f"self.type != '{kind}' || has(self.{member})",
                    f"{member} must be set when type is {kind}",
                    path=f".{member}",
                    reason="FieldValueRequired",
                ),
                rule(
                    f"self.type == '{kind}' || !has(self.{member})",
                    f"{member} must not be set unless type is {kind}",
                    path=f".{member}",
                    reason="FieldValueForbidden",
                ),
            )
        )
    )

    type: MetastoreType
    """Filesystem: the directories of the warehouse are the list; there is no commit lock. Jdbc: a PostgreSQL database,
    with a commit lock. Hive: a Hive metastore server, with a commit lock."""
    jdbc: Jdbc | None = None
    """Set when type is Jdbc."""
    hive: Hive | None = None
    """Set when type is Hive."""
