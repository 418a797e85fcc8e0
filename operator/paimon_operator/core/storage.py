"""How a catalog's storage reaches Spark: Paimon's catalog options, Hadoop's options, and the Secret's keys.

No value of a Secret passes through here: options say where credentials come from (the environment of the Pod), the Pod
takes them from the Secret. Only what the catalog says is written here, under the engine's names for it; what must
always be set (providers, bounded retries) the Spark side adds from its own engine data.
"""

from __future__ import annotations

from typing import Final

from paimon_operator.api.catalog import PaimonCatalog
from paimon_operator.api.storage import S3, MetastoreType
from paimon_operator.core.engines import Engine, StorageKeys
from paimon_operator.core.render import SecretEnv

METASTORES: Final = {MetastoreType.FILESYSTEM: "filesystem"}
_REQUIRED_KEYS: Final = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
_OPTIONAL_KEYS: Final = ("AWS_SESSION_TOKEN",)


def metastore_type(catalog: PaimonCatalog) -> MetastoreType:
    """Where the catalog keeps the list of its tables; Filesystem when it does not say."""
    return catalog.spec.metastore.type if catalog.spec.metastore else MetastoreType.FILESYSTEM


def catalog_options(catalog: PaimonCatalog, engine: Engine) -> dict[str, str]:
    """Paimon's catalog options for the warehouse's storage, without any secret."""
    return _s3_options(catalog.spec.storage.s3, engine.catalog_keys)


def hadoop_options(catalog: PaimonCatalog, engine: Engine) -> dict[str, str]:
    """Hadoop's options for reading input files and the ledger through S3A."""
    return _s3_options(catalog.spec.storage.s3, engine.input_keys)


def secret_environment(catalog: PaimonCatalog) -> tuple[SecretEnv, ...]:
    """The environment variables of the Spark Pods that the kubelet fills from the catalog's Secret."""
    secret = catalog.spec.storage.s3.credentials_secret_ref.name
    return tuple(
        SecretEnv(name=key, secret=secret, key=key, optional=key in _OPTIONAL_KEYS)
        for key in (*_REQUIRED_KEYS, *_OPTIONAL_KEYS)
    )


def _s3_options(s3: S3, keys: StorageKeys) -> dict[str, str]:
    options = {keys.region: s3.region}
    if s3.endpoint is not None:
        options[keys.endpoint] = s3.endpoint
    if s3.path_style_access is not None:
        options[keys.path_style] = str(s3.path_style_access).lower()
    return options
