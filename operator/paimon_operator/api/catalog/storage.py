"""Storage of a catalog: the file system under its warehouse."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from paimon_operator.api.base import ApiModel, LocalRef, MemberName, ResourceName, rule, validated
from paimon_operator.api.catalog.hdfs import Hdfs
from paimon_operator.api.catalog.s3_options import S3Options

_BUCKET = r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
_HDFS = r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}(:[0-9]{1,5})?"
_SEGMENT = r"[A-Za-z0-9_=@+-][A-Za-z0-9_=@+.-]*"

CLAIM_PATH = "/data"
"""Mount path of a volume claim in the Spark Pods."""
_ROOTS = {"s3": rf"s3://{_BUCKET}", "hdfs": rf"hdfs://{_HDFS}", "claim": rf"file://{CLAIM_PATH}"}
"""Storage member -> pattern of the beginning of its URIs."""
_ROOT = f"({'|'.join(_ROOTS.values())})"
SCHEMES = {member: root.partition("://")[0] for member, root in _ROOTS.items()}
"""Storage member -> scheme of its warehouse."""

Warehouse = Annotated[str, Field(pattern=rf"^{_ROOT}(/{_SEGMENT})+$", max_length=512)]
LocationUri = Annotated[str, Field(pattern=rf"^{_ROOT}(/{_SEGMENT})*/?$", max_length=512)]
RelativePath = Annotated[str, Field(pattern=rf"^{_SEGMENT}(/{_SEGMENT})*/?$", min_length=1, max_length=512)]
"""A path without `..` and without globs: no segment begins with a dot."""


class S3(ApiModel):
    """An S3 bucket, at AWS or a compatible server.

    Credentials come from one of two kinds of Secret. Without a Secret, the Pods use their workload identity.
    """

    model_config = validated(
        rule(
            "!(has(self.credentialsSecretRef) && has(self.credentialsFileSecretRef))",
            "credentialsSecretRef and credentialsFileSecretRef must not both be set",
            path=".credentialsFileSecretRef",
        ),
        rule(
            "!has(self.caConfigMapRef) || !has(self.endpoint) || self.endpoint.startsWith('https://')",
            "caConfigMapRef must not be set with an endpoint of http://, which has no certificate",
            path=".caConfigMapRef",
        ),
    )

    endpoint: Annotated[str, Field(pattern=r"^https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?/?$", max_length=256)] | None = None
    """URL of the server, as reached from the Spark Pods. Absent: AWS."""
    region: Annotated[str, Field(pattern=r"^[a-z0-9-]+$", min_length=1, max_length=63)]
    """Region of the bucket. Servers other than AWS need one too, usually us-east-1."""
    path_style_access: bool | None = None
    """True if the server expects the bucket in the path of the URL instead of the host name, as most servers except AWS
    do."""
    credentials_secret_ref: LocalRef | None = None
    """Secret with the keys AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN if needed. Only the Spark
    Pods receive it; the operator never reads it. A change of the Secret applies to the next run."""
    credentials_file_secret_ref: LocalRef | None = None
    """Secret with the key `credentials`: an AWS credentials file, whose profile `default` is used. It is mounted, so a
    change of the Secret reaches running Pods."""
    ca_config_map_ref: LocalRef | None = None
    """ConfigMap with the key `ca.crt`: PEM certificates of authorities to trust in addition to Java's."""
    options: S3Options | None = None
    """Hadoop's S3 options: s3.* for the table, fs.s3a.* for input files. docs/storage.md lists the permitted ones."""


class VolumeClaim(ApiModel):
    """A PersistentVolumeClaim of the namespace."""

    name: ResourceName
    """Name of the PersistentVolumeClaim. The Spark Pods mount it at /data and use it as uid and group 185."""


class Storage(ApiModel):
    """The file system under the warehouse. Exactly one member must be set."""

    model_config = validated(
        rule(
            f"[{', '.join(f'has(self.{member})' for member in SCHEMES)}].filter(x, x).size() == 1",
            f"exactly one of {', '.join(SCHEMES)} must be set",
        )
    )

    s3: S3 | None = None
    """Warehouse in an S3 bucket: s3://bucket/path."""
    hdfs: Hdfs | None = None
    """Warehouse on HDFS: hdfs://namenode:port/path, or hdfs://nameservice/path."""
    claim: VolumeClaim | None = None
    """Warehouse on a PersistentVolumeClaim: file:///data/path. For development only. The operator's settings must
    allow it; safety and speed are those of the volume."""


class Location(ApiModel):
    """A location that tables may load files from."""

    name: MemberName
    """Name by which tables refer to the location."""
    uri: LocationUri
    """A bucket, HDFS or volume, or a directory in it. It must neither be inside the warehouse nor contain it."""
