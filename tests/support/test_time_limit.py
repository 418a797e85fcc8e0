"""The time limit of tests, in one process and in several."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.cache import CHECKOUT

CONFTEST = """
import os

from tests.support.time_limit import TimeLimit

def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes long")
    config.pluginmanager.register(TimeLimit(limit_s=0.2, processes=2 * os.cpu_count()))
"""
TESTS = {
    "quick": "def test_quick(): pass",
    "slow": "import time\ndef test_slow(): time.sleep(0.6)",
    "stretched": "import time\ndef test_stretched(): time.sleep(0.3)",
    "marked": "import time, pytest\n@pytest.mark.long\ndef test_marked(): time.sleep(0.3)",
    "prepared": "import time, pytest\n@pytest.fixture\ndef server(): time.sleep(0.3)\ndef test_prepared(server): pass",
}


def run(directory: Path, *names: str, processes: int, conftest: str = CONFTEST) -> subprocess.CompletedProcess[str]:
    (directory / "conftest.py").write_text(conftest)
    for name in names:
        (directory / f"test_{name}.py").write_text(TESTS[name])
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(processes), "--rootdir", str(directory), str(directory)]
    return subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("processes", [0, 2])
def test_a_slow_test_without_the_marker_fails_the_run_and_is_named(tmp_path: Path, processes: int) -> None:
    done = run(tmp_path, *TESTS, processes=processes)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    assert "5 passed" in done.stdout
    _, _, summary = done.stdout.partition("over 0.2 s without the marker long")
    assert "test_slow.py::test_slow" in summary
    assert "test_stretched.py::test_stretched" in summary
    assert not [name for name in ("quick", "marked", "prepared") if f"::test_{name}" in summary]


def test_a_marked_test_and_a_test_with_a_slow_fixture_pass(tmp_path: Path) -> None:
    done = run(tmp_path, "quick", "marked", "prepared", processes=0)
    assert done.returncode == pytest.ExitCode.OK, done.stdout


def test_a_test_stretched_by_other_processes_is_named_and_does_not_fail_the_run(tmp_path: Path) -> None:
    done = run(tmp_path, "quick", "stretched", processes=0)
    assert done.returncode == pytest.ExitCode.OK, done.stdout
    assert "test_stretched.py::test_stretched" in done.stdout


def test_one_process_fails_at_the_limit_itself(tmp_path: Path) -> None:
    alone = CONFTEST.replace("processes=2 * os.cpu_count()", "processes=1")
    done = run(tmp_path, "quick", "stretched", processes=0, conftest=alone)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
