"""Which runs need no further reconcile, from the fields that the cache keeps of them, and which Pods."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.run.status import Phase
from paimon_operator.core.ports import Manifest

_OVER: Final = (Phase.SUCCEEDED, Phase.FAILED)
_ENDED: Final = ("Succeeded", "Failed")


def is_over(run: Manifest) -> bool:
    """Whether a run has ended and its finalizer is removed."""
    return (run.get("status") or {}).get("phase") in _OVER and not run["metadata"].get("finalizers")


def is_at_rest(run: Manifest) -> bool:
    """Whether a run needs no further reconcile: it is over and has no ttlAfterFinished."""
    return is_over(run) and "ttlAfterFinished" not in run["spec"]


def has_ended(pod: Manifest) -> bool:
    """Whether no container of a Pod runs any more, or ever will."""
    return (pod.get("status") or {}).get("phase") in _ENDED
