"""Where a job's object storage is, for the sentences about it: an endpoint is no secret, and often what is wrong."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from paimon_contract.parameters.write import write_of
from spark_apps.failures.patterns import FailurePattern
from spark_apps.storage.hdfs import SCHEME, Hdfs
from spark_apps.storage.volume import Volume

if TYPE_CHECKING:
    from paimon_contract.job import Job
    from paimon_engines.engine import Engine

S3 = "s3"
FIELDS = {
    "StorageUnreachable": "spec.storage.s3.endpoint",
    "CertificateNotTrusted": "spec.storage.s3.caConfigMapRef",
}
"""Reason -> the field of the PaimonCatalog that most often is what has to be mended."""
OF_CREDENTIALS = frozenset({"SecretNotFound", "CredentialsRefused", "AccessDenied"})
CREDENTIALS = {
    "environment": "spec.storage.s3.credentialsSecretRef",
    "file": "spec.storage.s3.credentialsFileSecretRef",
    "workload": "spec.spark.serviceAccountName",
}
"""Where credentials come from -> the field that says so."""


@dataclass(frozen=True)
class Storage:
    """The S3 of one job: the same for the warehouse, read by Paimon's FileIO, and the input files, read by S3A."""

    where: str
    """In words: the endpoint, or the region when it is AWS's own."""
    buckets: dict[str, str]
    """Bucket -> the field that names it."""
    credentials: str = "environment"
    """Where credentials come from."""
    signs: ClassVar[tuple[FailurePattern, ...]] = ()
    """Of its own; those of S3 are in failures.SIGNS."""

    @classmethod
    def of(cls, job: Job, engine: Engine) -> Storage | None:
        """None for a job whose files lie elsewhere."""
        buckets = {}
        write = write_of(job)
        if write and (bucket := _bucket(write.location)):
            buckets[bucket] = f"spec.writes[{write.name}].from.files.location"
        if bucket := _bucket(job.catalog.warehouse):
            buckets[bucket] = "spec.warehouse"
        given = {**job.hadoop, **job.catalog.options}
        ways = (engine.s3, engine.input)
        endpoint = next((given[way.endpoint_key] for way in ways if way.endpoint_key in given), None)
        region = next((given[way.region_key] for way in ways if way.region_key in given), "unknown")
        provider = next((given[way.provider_key] for way in ways if way.provider_key in given), "")
        kinds = {name: kind for way in ways for kind, name in way.providers.items()}
        where = f"endpoint {endpoint}" if endpoint else f"AWS, region {region}"
        return cls(where, buckets, kinds.get(provider, "environment")) if buckets else None

    def field(self, reason: str, said: str) -> str | None:
        """The field to look at after a failure for `reason` that `said` something; None for what is not about S3."""
        if reason == "BucketNotFound":
            named = [field for bucket, field in self.buckets.items() if bucket in said]
            return named[0] if len(named) == 1 else "spec.warehouse"
        return CREDENTIALS[self.credentials] if reason in OF_CREDENTIALS else FIELDS.get(reason)


def _bucket(uri: str) -> str | None:
    parts = urlsplit(uri)
    return parts.netloc if parts.scheme == S3 else None


def storage_of(job: Job, engine: Engine) -> Storage | Hdfs | Volume:
    """What there is to say of the storage of this job."""
    if urlsplit(job.catalog.warehouse).scheme == SCHEME:
        return Hdfs.of(job.catalog.warehouse, job.hadoop, os.environ)
    return Storage.of(job, engine) or Volume()
