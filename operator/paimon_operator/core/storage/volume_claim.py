"""A PersistentVolumeClaim: a directory of the Pod, and no options at all."""

from __future__ import annotations

from paimon_operator.api.catalog.storage import CLAIM_PATH, VolumeClaim
from paimon_operator.core.storage.access import Access, Mount, ValueSource


def access(claim: VolumeClaim) -> Access:
    """The claim as a directory that the Spark Pods write to."""
    return Access(mounts=(Mount(volume="warehouse", source=ValueSource.CLAIM, name=claim.name, path=CLAIM_PATH),))
