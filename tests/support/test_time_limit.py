"""The time limit of tests, in one process and in several."""

from __future__ import annotations

import os

import pytest

pytest_plugins = "pytester"

CONFTEST = """
from tests.support.time_limit import TimeLimit

def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes long")
    config.pluginmanager.register(TimeLimit(limit_s=0.2, processes={processes}))
"""
TESTS = {
    "quick": "def test_quick(): pass",
    "slow": "import time\ndef test_slow(): time.sleep(0.6)",
    "stretched": "import time\ndef test_stretched(): time.sleep(0.3)",
    "marked": "import time, pytest\n@pytest.mark.long\ndef test_marked(): time.sleep(0.3)",
    "prepared": "import time, pytest\n@pytest.fixture\ndef server(): time.sleep(0.3)\ndef test_prepared(server): pass",
}
OVER = "over 0.2 s without the marker long"


@pytest.fixture(autouse=True)
def _on_a_quiet_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.support.time_limit.os.getloadavg", lambda: (0.0, 0.0, 0.0))


def run(pytester: pytest.Pytester, *names: str, processes: int = 2) -> pytest.RunResult:
    """Runs the tests in this process. Their time limit is that of so many processes."""
    pytester.makeconftest(CONFTEST.format(processes=processes))
    pytester.makepyfile(**{f"test_{name}": TESTS[name] for name in names})
    return pytester.runpytest_inprocess("-q", "-p", "no:asyncio")


def named(done: pytest.RunResult) -> set[str]:
    """Returns the tests that the summary lists as over the limit."""
    _, _, summary = done.stdout.str().partition(OVER)
    return {name for name in TESTS if f"::test_{name}" in summary}


def test_a_slow_test_without_the_marker_fails_the_run_and_is_named(pytester: pytest.Pytester) -> None:
    done = run(pytester, *TESTS)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    assert done.parseoutcomes()["passed"] == len(TESTS)
    assert named(done) == {"slow", "stretched"}


def test_the_limit_holds_for_the_tests_of_all_processes(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("import os\nos.getloadavg = lambda: (0.0, 0.0, 0.0)\n" + CONFTEST.format(processes=2))
    pytester.makepyfile(**{f"test_{name}": TESTS[name] for name in ("quick", "slow")})
    done = pytester.runpytest_subprocess("-q", "-n", "2")
    assert (done.ret, named(done)) == (pytest.ExitCode.TESTS_FAILED, {"slow"})


def test_a_marked_test_and_a_test_with_a_slow_fixture_pass(pytester: pytest.Pytester) -> None:
    done = run(pytester, "quick", "marked", "prepared")
    assert (done.ret, named(done)) == (pytest.ExitCode.OK, set())


def test_a_test_stretched_by_other_processes_is_named_and_does_not_fail_the_run(pytester: pytest.Pytester) -> None:
    done = run(pytester, "quick", "stretched")
    assert (done.ret, named(done)) == (pytest.ExitCode.OK, {"stretched"})


def test_one_process_fails_at_the_limit_itself(pytester: pytest.Pytester) -> None:
    done = run(pytester, "quick", "stretched", processes=1)
    assert (done.ret, named(done)) == (pytest.ExitCode.TESTS_FAILED, {"stretched"})


def test_a_test_on_an_overloaded_machine_does_not_fail_the_run(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.support.time_limit.os.getloadavg", lambda: (4.0 * (os.cpu_count() or 1), 0.0, 0.0))
    done = run(pytester, "slow")
    assert (done.ret, named(done)) == (pytest.ExitCode.OK, {"slow"})
    assert "(beside others)" in done.stdout.str()
