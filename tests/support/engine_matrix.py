"""The engines of a test: all of them, or the newest alone when the result does not differ by engine."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import pytest

from paimon_engines.loader import supported_engines

WHOLE_MATRIX: Final = "--whole-matrix"
"""Option of pytest: the marker `newest_engine` has no effect."""

NO_ENGINE: Final = "no-engine"
"""In the place of an engine where none supports the metastore. pytest refuses a test without parameters."""


def engines_for(ready: Sequence[str], metastore: str, *, newest_only: bool) -> list[str]:
    """Engines of `ready` (oldest first) that support the metastore; with `newest_only` the last of them.

    The result is NO_ENGINE where there is none. `remove_without_engine` removes that test.
    """
    able = [name for name in ready if metastore in supported_engines()[name].metastores]
    return (able[-1:] if newest_only else able) or [NO_ENGINE]


def remove_without_engine(items: list[pytest.Item]) -> None:
    """Removes the tests that no available engine can run."""
    items[:] = [item for item in items if NO_ENGINE not in _parameters(item)]


def _parameters(item: pytest.Item) -> Collection[object]:
    return getattr(getattr(item, "callspec", None), "params", {}).values()
