"""Files in a table's directory that nothing of the table names: how they are found, listed, moved away and restored.

`storage_in` gives the files of a warehouse to read and to change. Only it decides on the kind of storage; `java.py` is
for those that only a JVM reaches.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from paimon_contract.job import JobCatalog
from paimon_engines.engine import Engine
from spark_apps.orphans.files import StorageFiles
from spark_apps.orphans.volume import VolumeStorage
from spark_apps.storage.s3 import SCHEME


def storage_in(catalog: JobCatalog, engine: Engine) -> StorageFiles | None:
    """The files of the warehouse; None where only a JVM reaches them, as on HDFS."""
    scheme = urlsplit(catalog.warehouse).scheme
    if scheme == SCHEME:
        from spark_apps.orphans.s3 import S3Storage  # noqa: PLC0415  (botocore takes long to import)

        return S3Storage.of(catalog.options, engine.s3)
    return VolumeStorage() if scheme in ("", "file") else None
