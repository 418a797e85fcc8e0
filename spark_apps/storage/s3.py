"""A warehouse on S3, or input files there: its address for messages, and which field a failure is about.

An endpoint is no secret, and often is what is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final
from urllib.parse import urlsplit

from paimon_contract.job import Job
from paimon_contract.parameters.write import write_of
from paimon_engines.engine import Engine
from spark_apps.failures.patterns import FailurePattern
from spark_apps.storage.base import Hadoop

SCHEME: Final = "s3"
_FIELDS: Final = {
    "StorageUnreachable": "spec.storage.s3.endpoint",
    "CertificateNotTrusted": "spec.storage.s3.caConfigMapRef",
}
"""Reason -> the field of the PaimonCatalog that most often is wrong."""
_CREDENTIAL_REASONS: Final = frozenset({"SecretNotFound", "CredentialsRefused", "AccessDenied"})
_CREDENTIAL_FIELDS: Final = {
    "environment": "spec.storage.s3.credentialsSecretRef",
    "file": "spec.storage.s3.credentialsFileSecretRef",
    "workload": "spec.spark.serviceAccountName",
}
"""Source of the credentials -> the field that names it."""


@dataclass(frozen=True)
class S3:
    """The S3 of one job: the same for the warehouse, read by Paimon's FileIO, and the input files, read by S3A."""

    where: str
    """The endpoint, or the region when it is AWS's own."""
    buckets: dict[str, str]
    """Bucket -> the field that names it."""
    credentials: str = "environment"
    """Source of the credentials."""
    catalog_options: dict[str, str] = field(default_factory=dict)
    """The engine's options for a warehouse on S3. Empty when only input files are there."""
    failure_patterns: ClassVar[tuple[FailurePattern, ...]] = ()
    """S3's patterns are among the common ones, because input files on S3 do not depend on the warehouse."""

    @classmethod
    def of(cls, job: Job, engine: Engine) -> S3 | None:
        """None for a job without files on S3."""
        buckets = {}
        write = write_of(job)
        if write and (bucket := _bucket(write.location)):
            buckets[bucket] = f"spec.writes[{write.name}].from.files.location"
        of_warehouse = _bucket(job.catalog.warehouse)
        if of_warehouse:
            buckets[of_warehouse] = "spec.warehouse"
        if not buckets:
            return None
        given = {**job.hadoop, **job.catalog.options}
        clients = (engine.s3, engine.input)
        endpoint = next((given[each.endpoint_key] for each in clients if each.endpoint_key in given), None)
        region = next((given[each.region_key] for each in clients if each.region_key in given), "unknown")
        provider = next((given[each.provider_key] for each in clients if each.provider_key in given), "")
        sources = {name: source for each in clients for source, name in each.providers.items()}
        return cls(
            where=f"endpoint {endpoint}" if endpoint else f"AWS, region {region}",
            buckets=buckets,
            credentials=sources.get(provider, "environment"),
            catalog_options=dict(engine.s3_catalog_options) if of_warehouse else {},
        )

    def field_of(self, reason: str, message: str) -> str | None:
        """The field of the catalog to look at after a failure; None for a failure that is not the storage's."""
        if reason == "BucketNotFound":
            named = [field for bucket, field in self.buckets.items() if bucket in message]
            return named[0] if len(named) == 1 else "spec.warehouse"
        return _CREDENTIAL_FIELDS[self.credentials] if reason in _CREDENTIAL_REASONS else _FIELDS.get(reason)

    def hadoop_options(self, driver: Hadoop) -> dict[str, str]:
        """None: the engine's options for input files are the same for every storage."""
        del driver
        return {}

    def log_in(self, driver: Hadoop) -> None:
        """Credentials go with each request, so there is no login."""

    @property
    def executor_options(self) -> dict[str, str]:
        """None: executors get credentials as the driver does."""
        return {}


def _bucket(uri: str) -> str | None:
    parts = urlsplit(uri)
    return parts.netloc if parts.scheme == SCHEME else None
