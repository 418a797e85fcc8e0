"""The time limit of tests without the marker `long`: the run names every such test of more than LIMIT_S seconds.

Processes that share the cores stretch each other's tests. The run fails when a test took longer than the limit times
the processes per core that wanted to run. So a test on a quiet machine has exactly the limit. Only the call counts.
Fixtures do not count, because several tests share their servers, nodes and tables.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

LIMIT_S = 60.0
"""Seconds that one test may take while nothing else runs on the machine."""
MARKER = "long"


def processes_per_core() -> float:
    """The machine's load of the last minute per core, at least 1."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


class TimeLimit:
    """A plugin of pytest. With several processes, the one that collects the reports applies the limit."""

    def __init__(self, limit_s: float = LIMIT_S, stretch: Callable[[], float] = processes_per_core) -> None:
        self._limit_s, self._stretch = limit_s, stretch
        self._over: dict[str, float] = {}
        self._too_long: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Records a test that exceeds the limit."""
        if report.when != "call" or MARKER in report.keywords or report.duration <= self._limit_s:
            return
        self._over[report.nodeid] = report.duration
        if report.duration > self._stretch() * self._limit_s:
            self._too_long.add(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fails a passed run with a test that took too long even for the machine's load."""
        if self._too_long and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Lists the tests over the limit, the slowest first."""
        if self._over:
            terminalreporter.section(f"tests over {self._limit_s:g} s without the marker {MARKER}", red=True)
        for name, seconds in sorted(self._over.items(), key=lambda pair: -pair[1]):
            verdict = "too long, fails the run" if name in self._too_long else "stretched by the machine's load"
            terminalreporter.write_line(f"{seconds:.1f} s ({verdict}) {name}")
