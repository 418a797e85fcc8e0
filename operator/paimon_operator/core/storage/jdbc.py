"""A jdbc metastore: its address is an option, user and password are files. Only drivers commit: only they get them."""

from __future__ import annotations

from typing import Final

from paimon_contract import environment
from paimon_operator.api.catalog.metastore import Jdbc
from paimon_operator.core.storage.access import ROOT, Access, Mount, SecretKey, ValueSource, Variable

DIRECTORY: Final = f"{ROOT}/metastore"
_KEYS: Final = ("username", "password")


def access(jdbc: Jdbc) -> Access:
    """The options and files of the metastore; what must always be set (lock, time-outs) the Spark side adds."""
    secret = jdbc.credentials_secret_ref.name
    files = {key: key for key in _KEYS}
    return Access(
        catalog_options={"uri": jdbc.uri},
        variables=(
            Variable(name=environment.METASTORE_CREDENTIALS, value=DIRECTORY, driver_only=True),
            # Nothing reads it. A kubelet says of a variable which Secret is missing, and nothing of a volume; so the
            # volume lets the Pod pass, and the variable holds it.
            Variable(
                name=environment.METASTORE_USERNAME,
                secret_key=SecretKey(secret=secret, key="username"),
                driver_only=True,
            ),
        ),
        mounts=(
            Mount(
                volume="metastore",
                source=ValueSource.SECRET,
                name=secret,
                path=DIRECTORY,
                items=files,
                optional=True,
                driver_only=True,
            ),
        ),
    )
