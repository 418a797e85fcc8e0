"""The time limit of tests without the marker `long`: the run names every such test of more than LIMIT_S seconds.

Processes that share the machine stretch each other's tests. With n of them a test that could use all cores has an nth
of the machine, so the run fails when a test took longer than n times the limit: with one process at the limit itself.
Only the call counts. Fixtures do not count, because several tests share their servers, nodes and tables.
"""

from __future__ import annotations

import pytest

LIMIT_S = 60.0
"""Seconds that one test may take while nothing else runs on the machine."""
MARKER = "long"


class TimeLimit:
    """A plugin of pytest. With several processes, the one that collects the reports applies the limit."""

    def __init__(self, limit_s: float = LIMIT_S, *, processes: int = 1) -> None:
        self._limit_s = limit_s
        self._fails_from_s = limit_s * processes
        self._over: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Records a test that exceeds the limit."""
        if report.when == "call" and report.duration > self._limit_s and MARKER not in report.keywords:
            self._over[report.nodeid] = report.duration

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fails a passed run with a test that took too long even beside the other processes."""
        too_long = any(seconds > self._fails_from_s for seconds in self._over.values())
        if too_long and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Lists the tests over the limit, the slowest first."""
        if self._over:
            limits = f"{self._limit_s:g} s without the marker {MARKER}; over {self._fails_from_s:g} s they fail the run"
            terminalreporter.section(f"tests over {limits}", red=True)
        for name, seconds in sorted(self._over.items(), key=lambda pair: -pair[1]):
            terminalreporter.write_line(f"{seconds:.1f} s {name}")
