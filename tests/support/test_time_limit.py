"""The time limit of tests: where it fails a session, and where it leaves the judgement to `measured_alone`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest_plugins = "pytester"

CONFTEST = """
from pathlib import Path
from tests.support.time_limit import SECONDS_TO, TimeLimit, limit_of

def pytest_addoption(parser):
    parser.addoption(SECONDS_TO, type=Path)

def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes long")
    if limit := limit_of(config, limit_s=0.2):
        config.pluginmanager.register(limit)
"""
TESTS = {
    "quick": "def test_quick(): pass",
    "slow": "import time\ndef test_slow(): time.sleep(0.3)",
    "marked": "import time, pytest\n@pytest.mark.long\ndef test_marked(): time.sleep(0.3)",
    "prepared": "import time, pytest\n@pytest.fixture\ndef server(): time.sleep(0.3)\ndef test_prepared(server): pass",
}
OVER = "over 0.2 s without the marker long"


def make(pytester: pytest.Pytester, *names: str) -> None:
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(**{f"test_{name}": TESTS[name] for name in names})


def run(pytester: pytest.Pytester, *names: str, seconds_to: Path | None = None) -> pytest.RunResult:
    """Runs the tests in this process."""
    make(pytester, *names)
    option = [f"--seconds-to={seconds_to}"] if seconds_to else []
    return pytester.runpytest_inprocess("-q", "-p", "no:asyncio", *option)


def named(done: pytest.RunResult) -> set[str]:
    """Returns the tests that the summary lists as over the limit."""
    _, _, summary = done.stdout.str().partition(OVER)
    return {name for name in TESTS if f"::test_{name}" in summary}


def test_a_slow_test_without_the_marker_fails_the_run_and_is_named(pytester: pytest.Pytester) -> None:
    done = run(pytester, *TESTS)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    assert done.parseoutcomes()["passed"] == len(TESTS)
    assert named(done) == {"slow"}


def test_a_marked_test_and_a_test_with_a_slow_fixture_pass(pytester: pytest.Pytester) -> None:
    done = run(pytester, "quick", "marked", "prepared")
    assert (done.ret, named(done)) == (pytest.ExitCode.OK, set())


def test_one_process_fails_at_the_limit_although_it_writes_the_seconds(
    pytester: pytest.Pytester, tmp_path: Path
) -> None:
    done = run(pytester, "quick", "slow", seconds_to=tmp_path / "seconds")
    assert (done.ret, named(done)) == (pytest.ExitCode.TESTS_FAILED, {"slow"})


@pytest.mark.parametrize("measured_again", [True, False])
def test_several_processes_leave_the_judgement_to_a_second_measurement_if_one_follows(
    pytester: pytest.Pytester, tmp_path: Path, *, measured_again: bool
) -> None:
    make(pytester, "quick", "slow", "marked")
    seconds = tmp_path / "seconds"
    done = pytester.runpytest_subprocess("-q", "-n", "2", *([f"--seconds-to={seconds}"] if measured_again else []))
    code = pytest.ExitCode.OK if measured_again else pytest.ExitCode.TESTS_FAILED
    assert (done.ret, named(done)) == (code, {"slow"})
    if measured_again:
        assert {test.partition("::")[2]: value > 0.2 for test, value in json.loads(seconds.read_text()).items()} == {
            "test_quick": False,
            "test_slow": True,
        }
