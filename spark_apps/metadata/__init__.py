"""A table's metadata files, read without a JVM. Only `files_of` decides on the kind of storage.

`files_of(job, engine)` gives the files of a job's warehouse; `TableFiles(files, location_of(job))` reads its table's.
Everything here only reads, and raises UnreadableError where a JVM may still be able to.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from paimon_contract import environment
from paimon_contract.job import Job, JobCatalog
from paimon_engines.engine import Engine
from spark_apps.metadata.base import TimedFiles
from spark_apps.metadata.volume import VolumeFiles
from spark_apps.storage import s3
from spark_apps.storage.hdfs import Hdfs

_kept: dict[tuple[Any, ...], TimedFiles | None] = {}
"""The files of the last job: jobs of a shared Pod have one warehouse, and a client of S3 costs 0.1 s of CPU time."""

_making: Final = threading.Lock()


def files_of(job: Job, engine: Engine) -> TimedFiles | None:
    """The files of the job's warehouse; None where only a JVM can read them."""
    options = tuple(sorted(job.catalog.options.items())), tuple(sorted(job.hadoop.items()))
    key = (engine.id, job.catalog.warehouse, *options, _version_of_keys())
    with _making:
        if key not in _kept:
            found = files_in(job.catalog, engine, job.hadoop)
            _kept.clear()
            _kept[key] = found
        return _kept[key]


def _version_of_keys() -> tuple[int, int] | None:
    """Changes with the file of keys, if there is one: a client reads it only once."""
    file = os.environ.get(environment.AWS_SHARED_CREDENTIALS_FILE)
    if not file:
        return None
    try:
        found = os.stat(file)
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_ino


def files_in(catalog: JobCatalog, engine: Engine, hadoop: Mapping[str, str]) -> TimedFiles | None:
    """The same for a catalog, with the options of Hadoop's file systems."""
    scheme = urlsplit(catalog.warehouse).scheme
    if scheme == s3.SCHEME:
        from spark_apps.metadata.s3 import S3Files  # noqa: PLC0415  (botocore takes long to import)

        return S3Files.of(catalog.options, engine.s3)
    if Hdfs.holds(catalog.warehouse):
        from spark_apps.metadata.hdfs import HdfsFiles  # noqa: PLC0415  (17 MB, of which most drivers need nothing)

        return HdfsFiles.of(catalog.warehouse, hadoop)
    return VolumeFiles() if scheme in ("", "file") else None
