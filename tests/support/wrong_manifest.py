"""One mistake in a manifest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tests.support.manifests import Manifest


@dataclass(frozen=True)
class WrongManifest:
    """One mistake: the field and the text that the message must contain."""

    name: str
    manifest: Manifest
    field: str
    contains: str
    caught_by: Literal["apiserver", "reconcile"] = "apiserver"
    reason: str = ""
    """Reason of the condition Stalled; only for what reconcile catches."""
    engine: str = "paimon-1.4"
    """Engine of the catalog; only for what reconcile catches."""


def later(
    name: str, manifest: Manifest, field: str, contains: str, reason: str = "InvalidSpec", *, engine: str = "paimon-1.4"
) -> WrongManifest:
    """A mistake that only reconcile can detect."""
    return WrongManifest(name, manifest, field, contains, "reconcile", reason, engine)
