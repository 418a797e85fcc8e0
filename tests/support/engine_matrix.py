"""The engines of a test: all of them, or the newest alone when the result does not differ by engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from paimon_engines.loader import supported_engines

WHOLE_MATRIX: Final = "--whole-matrix"
"""Option of pytest: the marker `newest_engine` has no effect."""


def engines_for(ready: Sequence[str], metastore: str, *, newest_only: bool) -> list[str]:
    """Engines of `ready` (oldest first) that support the metastore; with `newest_only` the last of them."""
    able = [name for name in ready if metastore in supported_engines()[name].metastores]
    return able[-1:] if newest_only else able
