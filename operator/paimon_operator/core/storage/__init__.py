"""How a catalog's storage and metastore are reached, and what they mean for commits: one class per kind.

Only `storage_of` and `metastore_of` decide on the kind. No value of a Secret passes through here: options say where
credentials come from, and the kubelet puts them there.
"""

from __future__ import annotations

from paimon_engines.engine import Engine
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.core.storage.access import Access
from paimon_operator.core.storage.base import MetastoreKind, StorageKind
from paimon_operator.core.storage.filesystem import FilesystemMetastore
from paimon_operator.core.storage.hdfs import HdfsStorage
from paimon_operator.core.storage.hive import HiveMetastore
from paimon_operator.core.storage.jdbc import JdbcMetastore
from paimon_operator.core.storage.s3 import S3Storage
from paimon_operator.core.storage.unsupported import UnsupportedStorage
from paimon_operator.core.storage.volume_claim import VolumeStorage


def storage_of(catalog: PaimonCatalog) -> StorageKind:
    """The storage under the catalog's warehouse."""
    storage = catalog.spec.storage
    if storage.s3 is not None:
        return S3Storage(storage.s3)
    if storage.hdfs is not None:
        return HdfsStorage(storage.hdfs)
    if storage.claim is not None:
        return VolumeStorage(storage.claim)
    return UnsupportedStorage()


def metastore_of(catalog: PaimonCatalog) -> MetastoreKind:
    """What keeps the list of the catalog's tables; Filesystem when the catalog names nothing."""
    metastore = catalog.spec.metastore
    if metastore is not None and metastore.jdbc is not None:
        return JdbcMetastore(metastore.jdbc)
    if metastore is not None and metastore.hive is not None:
        return HiveMetastore(metastore.hive)
    return FilesystemMetastore()


def access(catalog: PaimonCatalog, engine: Engine) -> Access:
    """All that the Spark Pods of the catalog's tables need to reach their data."""
    return storage_of(catalog).access(engine) + metastore_of(catalog).access()


def lacks_executor_accounts(catalog: PaimonCatalog) -> bool:
    """Whether the cloud authenticates Spark Pods by their service account, and the catalog does not name both accounts.

    The accounts that all catalogs share have no identity in the cloud.
    """
    spark = catalog.spec.spark
    has_accounts = bool(spark and spark.driver_service_account_name and spark.service_account_name)
    return storage_of(catalog).uses_pod_identity and not has_accounts
