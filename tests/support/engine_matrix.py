"""Which engines a test runs on: what differs by engine on each, what is Spark's own or ours on the newest alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from paimon_engines.loader import supported_engines

WHOLE_MATRIX: Final = "--whole-matrix"
"""Option of pytest: the marker `newest_engine` has no effect."""


def engines_for(ready: Sequence[str], metastore: str, *, newest_only: bool) -> list[str]:
    """Those of `ready` (oldest first) that have the metastore; only the newest of them where it stands for all."""
    able = [name for name in ready if metastore in supported_engines()[name].metastores]
    return able[-1:] if newest_only else able
