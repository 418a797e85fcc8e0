"""A storage that this operator does not know: a newer operator's CRD can have more members than this one's models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from paimon_engines.engine import Engine
from paimon_operator.core.config import OperatorFacts
from paimon_operator.core.storage.access import Access
from paimon_operator.core.storage.commit_protection import UNKNOWN, Protection
from paimon_operator.errors import SpecError


class UnsupportedStorage:
    """Nothing is known of its protection, and no Pod can be started for it."""

    uses_pod_identity: ClassVar[bool] = False
    commit_protection: ClassVar[Protection] = UNKNOWN

    def access(self, engine: Engine) -> Access:
        """Raises ValueError."""
        del engine
        raise ValueError("the API server lets no catalog pass that has no storage")

    def physical_root(self, warehouse: str, namespace: str) -> str:
        """The warehouse: its URI is unique."""
        del namespace
        return warehouse

    def problems(self, operator: OperatorFacts) -> Iterator[SpecError]:
        """None: the API server checks it."""
        del operator
        yield from ()
