"""Where a catalog's data lives."""

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
"""Where the Spark Pods see a claim."""
_ROOTS = {"s3": rf"s3://{_BUCKET}", "hdfs": rf"hdfs://{_HDFS}", "claim": rf"file://{CLAIM_PATH}"}
"""Storage member -> what the URIs of its places begin with."""
_ROOT = f"({'|'.join(_ROOTS.values())})"
SCHEMES = {member: root.partition("://")[0] for member, root in _ROOTS.items()}
"""Storage member -> scheme of its warehouse."""

Warehouse = Annotated[str, Field(pattern=rf"^{_ROOT}(/{_SEGMENT})+$", max_length=512)]
LocationUri = Annotated[str, Field(pattern=rf"^{_ROOT}(/{_SEGMENT})*/?$", max_length=512)]
RelativePath = Annotated[str, Field(pattern=rf"^{_SEGMENT}(/{_SEGMENT})*/?$", min_length=1, max_length=512)]
"""No segment begins with a dot, so `..` cannot be written; neither can a glob."""


class S3(ApiModel):
    """An S3 bucket, at AWS or any server that speaks its protocol.

    Credentials come from one of two kinds of Secret, or, with neither, from the identity of the Spark pods' account.
    """

    model_config = validated(
        rule(
            "!(has(self.credentialsSecretRef) && has(self.credentialsFileSecretRef))",
            "credentialsSecretRef and credentialsFileSecretRef must not both be set",
            path=".credentialsFileSecretRef",
        ),
        rule(
            "!has(self.caConfigMapRef) || !has(self.endpoint) || self.endpoint.startsWith('https://')",
            "caConfigMapRef has no meaning with an endpoint of http://",
            path=".caConfigMapRef",
        ),
    )

    endpoint: Annotated[str, Field(pattern=r"^https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?/?$", max_length=256)] | None = None
    """URL of the server, as the Spark pods see it. Absent: AWS."""
    region: Annotated[str, Field(pattern=r"^[a-z0-9-]+$", min_length=1, max_length=63)]
    """Region of the bucket; servers other than AWS want one too, mostly us-east-1."""
    path_style_access: bool | None = None
    """True for servers that have the bucket in the URL's path and not in its host name: most that are not AWS."""
    credentials_secret_ref: LocalRef | None = None
    """Secret with the keys AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN where one is needed. Only
    the Spark pods get it; the operator never reads it. A change of the Secret holds for the next run."""
    credentials_file_secret_ref: LocalRef | None = None
    """Secret with the key `credentials`: a file of AWS's form, whose profile `default` is used. It is mounted, so a
    change of the Secret reaches pods that are at work."""
    ca_config_map_ref: LocalRef | None = None
    """ConfigMap with the key `ca.crt`: certificates (PEM) of authorities to trust besides the usual ones."""
    options: S3Options | None = None
    """Hadoop's options for S3: s3.* for the table, fs.s3a.* for input files. The page of storage lists the allowed."""


class VolumeClaim(ApiModel):
    """A PersistentVolumeClaim of the namespace."""

    name: ResourceName
    """Name of the PersistentVolumeClaim. The Spark Pods see it as /data, as uid and group 185."""


class Storage(ApiModel):
    """The file system under the warehouse: exactly one member."""

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
    """Warehouse on a PersistentVolumeClaim: file:///data/path. For trying things out: the operator's settings have to
    allow it, and it is as safe and as fast as the volume behind it."""


class Location(ApiModel):
    """A place that files may be loaded from."""

    name: MemberName
    """What tables call this place."""
    uri: LocationUri
    """The bucket, HDFS or claim, or a directory in it; neither inside the warehouse nor around it."""
