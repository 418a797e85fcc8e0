"""A storage that this operator does not know: a newer operator's CRD can have more members than this one's models."""

from __future__ import annotations

from typing import ClassVar

from paimon_engines.engine import Engine
from paimon_operator.core.storage.access import Access
from paimon_operator.core.storage.base import StorageKind
from paimon_operator.core.storage.commit_protection import UNKNOWN, Protection


class UnsupportedStorage(StorageKind):
    """Nothing is known of its protection, and no Pod can be started for it."""

    uses_pod_identity: ClassVar[bool] = False
    commit_protection: ClassVar[Protection] = UNKNOWN

    def access(self, engine: Engine) -> Access:
        """Raises ValueError."""
        del engine
        raise ValueError("the API server lets no catalog pass that has no storage")
