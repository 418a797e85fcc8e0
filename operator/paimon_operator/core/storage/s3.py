"""S3: options by the engine's names for them, credentials in the Pod's environment.

Only what the catalog says is written here; what must always be set (bounded retries) the Spark side adds from its own
engine data.
"""

from __future__ import annotations

from typing import Final

from paimon_operator.api.storage import S3
from paimon_operator.core.engines import Engine, StorageKeys
from paimon_operator.core.storage.access import Access, SecretKey, Variable

_REQUIRED_KEYS: Final = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
_OPTIONAL_KEYS: Final = ("AWS_SESSION_TOKEN",)


def access(s3: S3, engine: Engine) -> Access:
    """Paimon's own way to S3 and Hadoop's, with the keys of one Secret."""
    return Access(
        catalog_options=_options(s3, engine.catalog_keys),
        hadoop_options=_options(s3, engine.input_keys),
        variables=_environment(s3.credentials_secret_ref.name),
    )


def _environment(secret: str) -> tuple[Variable, ...]:
    keys = dict.fromkeys(_REQUIRED_KEYS, False) | dict.fromkeys(_OPTIONAL_KEYS, True)
    return tuple(
        Variable(name=key, secret_key=SecretKey(secret=secret, key=key, optional=optional))
        for key, optional in keys.items()
    )


def _options(s3: S3, keys: StorageKeys) -> dict[str, str]:
    options = {keys.region: s3.region}
    if s3.endpoint is not None:
        options[keys.endpoint] = s3.endpoint
    if s3.path_style_access is not None:
        options[keys.path_style] = str(s3.path_style_access).lower()
    return options
