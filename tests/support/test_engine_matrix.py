"""The selection of engines for a test."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cluster.cache import CHECKOUT
from tests.support.engine_matrix import NO_ENGINE, engines_for

BOTH = ["paimon-0.9", "paimon-1.4"]


@pytest.mark.parametrize(
    ("ready", "metastore", "newest_only", "engines"),
    [
        (BOTH, "Filesystem", False, BOTH),
        (BOTH, "Filesystem", True, ["paimon-1.4"]),
        (BOTH, "Jdbc", False, ["paimon-1.4"]),
        (["paimon-0.9"], "Hive", True, ["paimon-0.9"]),
        (["paimon-0.9"], "Jdbc", True, [NO_ENGINE]),
    ],
)
def test_a_test_marked_newest_engine_runs_on_the_newest_engine_that_supports_the_metastore(
    ready: list[str], metastore: str, newest_only: bool, engines: list[str]
) -> None:
    assert engines_for(ready, metastore, newest_only=newest_only) == engines


COLLECT_ON_THE_OLDEST = """
import sys
import pytest
from tests.cluster import release
from tools.engines import fetch

known = fetch.fetch
fetch.fetch = lambda engine: fetch.Availability(engine, None, "left out") if "1.4" in engine.id else known(engine)
release.engines = lambda: ["paimon-0.9"]
sys.exit(pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
"""


def test_a_clone_without_the_newest_engine_collects_all_but_the_tests_of_its_metastore() -> None:
    command = [sys.executable, "-c", COLLECT_ON_THE_OLDEST, "tests/e2e", "tests/spark"]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)

    assert done.returncode == pytest.ExitCode.OK, done.stdout
    for suite in ("e2e", "spark"):
        assert f"tests/{suite}/test_hive_metastore.py::" in done.stdout
    assert "test_jdbc_metastore" not in done.stdout
    assert "paimon-1.4]" not in done.stdout
    assert NO_ENGINE not in done.stdout
