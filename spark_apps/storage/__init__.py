"""Access to S3, HDFS and volumes: one class per kind. Only `storage_of` decides on the kind."""

from __future__ import annotations

import os

from paimon_contract.job import Job
from paimon_engines.engine import Engine
from spark_apps.storage.base import Storage
from spark_apps.storage.hdfs import Hdfs
from spark_apps.storage.s3 import S3
from spark_apps.storage.volume import Volume


def storage_of(job: Job, engine: Engine) -> Storage:
    """The storage of a job. S3 also stands for input files on S3 beside a warehouse on a volume."""
    if Hdfs.holds(job.catalog.warehouse):
        return Hdfs.of(job.catalog.warehouse, job.hadoop, os.environ)
    return S3.of(job, engine) or Volume()
