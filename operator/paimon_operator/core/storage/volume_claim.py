"""A PersistentVolumeClaim: a directory of the Pod, without options."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from paimon_engines.engine import Engine
from paimon_operator.api.catalog.storage import CLAIM_PATH, VolumeClaim
from paimon_operator.api.reasons import Reason
from paimon_operator.core.config import OperatorFacts
from paimon_operator.core.storage.access import Access, Mount, ValueSource
from paimon_operator.core.storage.base import StorageKind
from paimon_operator.core.storage.commit_protection import Protection, unprotected
from paimon_operator.errors import SpecError


@dataclass(frozen=True)
class VolumeStorage(StorageKind):
    """A volume claim of the catalog's namespace."""

    claim: VolumeClaim
    uses_pod_identity: ClassVar[bool] = False
    commit_protection: ClassVar[Protection] = unprotected(
        "on a volume a commit can replace another one, and the metastore Filesystem has no lock: commits can get lost"
    )

    def access(self, engine: Engine) -> Access:
        """The volume as a directory that the Spark Pods write to."""
        del engine
        volume = Mount(volume="warehouse", source=ValueSource.CLAIM, name=self.claim.name, path=CLAIM_PATH)
        return Access(mounts=(volume,))

    def physical_root(self, warehouse: str, namespace: str) -> str:
        """Each claim is a disk of its own, so a path means something only together with the claim's name."""
        return f"{namespace}/{self.claim.name}:{warehouse}"

    def problems(self, operator: OperatorFacts) -> Iterator[SpecError]:
        """Claims must be allowed by the operator's settings."""
        if not operator.claims_allowed:
            yield SpecError(
                "spec.storage.claim",
                "this operator allows no warehouse on a PersistentVolumeClaim",
                "Use S3 or HDFS, or ask the administrator of the operator to set spark.allowClaims in the chart's "
                "values.",
                reason=Reason.STORAGE_NOT_ALLOWED,
            )
