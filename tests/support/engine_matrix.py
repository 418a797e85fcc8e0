"""Which engines a test runs on: what differs by engine on each, what is Spark's own or ours on the newest alone."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from paimon_engines.engine import supported_engines

WHOLE_MATRIX: Final = "WHOLE_MATRIX"
"""Environment variable: when it is set to anything, the marker `newest_engine` has no effect."""


def engines_for(ready: Sequence[str], metastore: str, *, newest_only: bool) -> list[str]:
    """Those of `ready` (oldest first) that have the metastore; only the newest of them where it stands for all."""
    able = [name for name in ready if metastore in supported_engines()[name].metastores]
    return able[-1:] if newest_only and not os.environ.get(WHOLE_MATRIX) else able
