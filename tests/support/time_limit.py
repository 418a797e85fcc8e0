"""A test that takes long says so: one of more than LIMIT_S without the marker `long` fails the run.

What counts is the test itself. Servers, nodes and tables that a fixture makes are left out: several tests share them.
"""

from __future__ import annotations

import pytest

LIMIT_S = 60.0
"""Of one test, also while other tests are on the same two cores: one that is alone should need half of it."""
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
        if self._over and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Names the tests, the slowest first."""
        if self._over:
            terminalreporter.section(f"FAILED: over {self._limit_s:g} s without the marker {MARKER}", red=True)
        for name, seconds in sorted(self._over.items(), key=lambda pair: -pair[1]):
            terminalreporter.write_line(f"{seconds:.1f} s {name}")
