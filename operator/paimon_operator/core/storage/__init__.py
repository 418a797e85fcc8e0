"""How a catalog's storage and metastore reach Spark: one file per kind, each answers with an `Access`.

No value of a Secret passes through here: options say where credentials come from, and the kubelet puts them there.
"""

from __future__ import annotations

from typing import Final

from paimon_engines.engine import Engine
from paimon_operator.api.catalog.metastore import MetastoreType
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.core.storage import hdfs, hive, jdbc, s3, volume_claim
from paimon_operator.core.storage.access import Access

METASTORES: Final = {
    MetastoreType.FILESYSTEM: "filesystem",
    MetastoreType.JDBC: "jdbc",
    MetastoreType.HIVE: "hive",
}
"""What Paimon calls them."""


def metastore_type(catalog: PaimonCatalog) -> MetastoreType:
    """Where the catalog keeps the list of its tables; Filesystem when it does not say."""
    return catalog.spec.metastore.type if catalog.spec.metastore else MetastoreType.FILESYSTEM


def access(catalog: PaimonCatalog, engine: Engine) -> Access:
    """All that the Spark Pods of the catalog's tables need to get at their data."""
    return _of_storage(catalog, engine) + _of_metastore(catalog)


def lacks_executor_accounts(catalog: PaimonCatalog) -> bool:
    """Whether the cloud lets Spark Pods in by who they are, and the catalog does not name the accounts of executors and
    of the drivers that make them: those that all catalogs share are nobody's."""
    s3_, spark = catalog.spec.storage.s3, catalog.spec.spark
    by_identity = s3_ is not None and s3_.credentials_secret_ref is None and s3_.credentials_file_secret_ref is None
    return by_identity and not (spark and spark.driver_service_account_name and spark.service_account_name)


def _of_storage(catalog: PaimonCatalog, engine: Engine) -> Access:
    storage = catalog.spec.storage
    if storage.s3 is not None:
        return s3.access(storage.s3, engine)
    if storage.hdfs is not None:
        return hdfs.access(storage.hdfs)
    if storage.claim is not None:
        return volume_claim.access(storage.claim)
    raise ValueError("the API server lets no catalog pass that has no storage")


def _of_metastore(catalog: PaimonCatalog) -> Access:
    metastore = catalog.spec.metastore
    if metastore is not None and metastore.jdbc is not None:
        return jdbc.access(metastore.jdbc)
    if metastore is not None and metastore.hive is not None:
        return hive.access(metastore.hive)
    return Access()
