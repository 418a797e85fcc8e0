"""Which runs need no further reconcile, from the fields that the cache keeps of them."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.run.status import Phase
from paimon_operator.core.ports import Manifest

_OVER: Final = (Phase.SUCCEEDED, Phase.FAILED)


def is_over(run: Manifest) -> bool:
    """Whether a run has ended and its finalizer is removed."""
    return (run.get("status") or {}).get("phase") in _OVER and not run["metadata"].get("finalizers")


def is_at_rest(run: Manifest) -> bool:
    """Whether a run needs no further reconcile: it is over and has no ttlAfterFinished."""
    return is_over(run) and "ttlAfterFinished" not in run["spec"]
