"""The selection of engines for a test."""

from __future__ import annotations

import pytest

from tests.support.engine_matrix import engines_for

BOTH = ["paimon-0.9", "paimon-1.4"]


@pytest.mark.parametrize(
    ("ready", "metastore", "newest_only", "engines"),
    [
        (BOTH, "Filesystem", False, BOTH),
        (BOTH, "Filesystem", True, ["paimon-1.4"]),
        (BOTH, "Jdbc", False, ["paimon-1.4"]),
        (["paimon-0.9"], "Hive", True, ["paimon-0.9"]),
        (["paimon-0.9"], "Jdbc", True, []),
    ],
)
def test_a_test_marked_newest_engine_runs_on_the_newest_engine_that_supports_the_metastore(
    ready: list[str], metastore: str, newest_only: bool, engines: list[str]
) -> None:
    assert engines_for(ready, metastore, newest_only=newest_only) == engines
