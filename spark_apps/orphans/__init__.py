"""Files in a table's directory that nothing of the table names: how they are found, listed, moved away and restored.

`storage_in` gives the files of a warehouse to read and to change. Only it decides on the kind of storage; `java.py` is
for where Python cannot do it: on HDFS, as soon as a file of the table has to be moved.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from paimon_contract.job import JobCatalog
from paimon_engines.engine import Engine
from spark_apps.orphans.files import StorageFiles
from spark_apps.orphans.volume import VolumeStorage
from spark_apps.storage.hdfs import Hdfs
from spark_apps.storage.s3 import SCHEME


def storage_in(catalog: JobCatalog, engine: Engine, hadoop: Mapping[str, str]) -> StorageFiles | None:
    """The files of the warehouse, with the options of Hadoop's file systems; None where only a JVM reaches them."""
    scheme = urlsplit(catalog.warehouse).scheme
    if scheme == SCHEME:
        from spark_apps.orphans.s3 import S3Storage  # noqa: PLC0415  (botocore takes long to import)

        return S3Storage.of(catalog.options, engine.s3)
    if Hdfs.holds(catalog.warehouse):
        from spark_apps.orphans.hdfs import HdfsStorage  # noqa: PLC0415  (17 MB)

        return HdfsStorage.of(catalog.warehouse, hadoop)
    return VolumeStorage() if scheme in ("", "file") else None
