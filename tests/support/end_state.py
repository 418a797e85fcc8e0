"""What a workload leaves in a namespace, without what depends on time: names of runs and Pods, moments, lengths.

Two worlds with the same acts must leave the same, whatever the watches did and wherever the operator was killed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.support.manifests import Manifest

Left = tuple[object, ...]
_OF_WRITES = ("name", "hash", "ledger", "onceHash", "committedSnapshot", "rows")


def of_object(body: Manifest) -> Left:
    """A table or a catalog."""
    meta, status = body["metadata"], body.get("status") or {}
    return (body["kind"], meta["name"], meta["generation"], _finalizers(body), _conditions(body), *_of_status(status))


def of_runs(bodies: Iterable[Manifest]) -> list[Left]:
    """The runs that exist."""
    return sorted(
        ("PaimonRun", body["spec"]["type"], str((body.get("status") or {}).get("phase")), _finalizers(body))
        for body in bodies
    )


def of_pods(bodies: Iterable[Manifest]) -> list[Left]:
    """The Pods that exist: a driver that has ended keeps nothing of ours."""
    return sorted(("Pod", str((body.get("status") or {}).get("phase")), _finalizers(body)) for body in bodies)


def of_config_maps(bodies: Iterable[Manifest]) -> Left:
    """The jobs that are stored, and whether each goes with its owner."""
    found = list(bodies)
    return ("ConfigMap", len(found), all(body["metadata"].get("ownerReferences") for body in found))


def _of_status(status: dict[str, Any]) -> Iterable[object]:
    """What the operator remembers of the work that was done."""
    provision, usage = status.get("provision") or {}, status.get("usage") or {}
    yield from (("activeRun" in status), ("queuedRun" in status), ("deferredRun" in status))
    yield tuple(each["type"] for each in status.get("followingRuns") or ())
    yield (provision.get("hash"), provision.get("created"), "failure" in provision)
    yield (usage.get("runs"), usage.get("failed"))
    yield tuple(tuple(each.get(key) for key in _OF_WRITES) for each in status.get("writes") or ())
    yield tuple((name, "failure" in (status.get(name) or {})) for name in ("compaction", "retention", "drop"))


def _finalizers(body: Manifest) -> tuple[str, ...]:
    return tuple(body["metadata"].get("finalizers") or ())


def _conditions(body: Manifest) -> tuple[Left, ...]:
    found = (body.get("status") or {}).get("conditions") or ()
    return tuple((each["type"], each["status"], each["reason"]) for each in found)
