"""Tests that take long must carry the marker `long`: the run names every other test of more than LIMIT_S.

The run fails when such a test took more than twice the limit: several processes share two cores, which stretches each
test. The call alone counts. Servers, nodes and tables that a fixture creates do not: several tests share them.
"""

from __future__ import annotations

import pytest

LIMIT_S = 60.0
"""Seconds that one test may take on a machine of its own."""
STRETCH = 2
"""How much longer a test may take beside the tests of the other processes."""
MARKER = "long"


class TimeLimit:
    """A plugin of pytest. Where several processes share the tests, the one that collects their reports judges."""

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        self._limit_s = limit_s
        self._over: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remembers a test that took too long."""
        if report.when == "call" and report.duration > self._limit_s and MARKER not in report.keywords:
            self._over[report.nodeid] = report.duration

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fails a run that would pass."""
        if (
            any(seconds > STRETCH * self._limit_s for seconds in self._over.values())
            and session.exitstatus == pytest.ExitCode.OK
        ):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Names the tests, the slowest first."""
        if self._over:
            limit = (
                f"{self._limit_s:g} s without the marker {MARKER}; over {STRETCH * self._limit_s:g} s they fail the run"
            )
            terminalreporter.section(f"tests over {limit}", red=True)
        for name, seconds in sorted(self._over.items(), key=lambda pair: -pair[1]):
            terminalreporter.write_line(f"{seconds:.1f} s {name}")
