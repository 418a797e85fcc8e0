"""One rule about the settings of a table."""

from __future__ import annotations

from dataclasses import dataclass

from tests.support.manifests import Manifest
from tests.support.wrong_manifest import WrongManifest


@dataclass(frozen=True)
class TableRule:
    """A rule: why it exists, a manifest that it admits, and one that it refuses."""

    id: str
    says: str
    """The rule as a sentence, for docs/rules.md."""
    source: str
    """Where Paimon checks it (a class and method of 1.4.2), or the test that shows what happens without it."""
    right: Manifest
    wrong: WrongManifest

    @property
    def at_apply(self) -> bool:
        """Whether the API server refuses it too. Reconcile refuses everything."""
        return self.wrong.caught_by == "apiserver"
