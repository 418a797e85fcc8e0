"""The time limit of tests without the marker `long`: the run names every such test of more than LIMIT_S seconds.

Tests that run side by side slow each other down. So the run fails only when a test took longer than LIMIT_S times the
larger of two numbers: the test processes, and the programs that wanted each core in the last minute (the load). The
load includes a test's own programs: one that keeps more programs busy than there are cores gets more time, even alone.
Only the call counts. Fixtures do not count, because several tests share their servers, nodes and tables.
"""

from __future__ import annotations

import os

import pytest

LIMIT_S = 60.0
"""Seconds that one test may take while nothing else runs on the machine."""
MARKER = "long"


class TimeLimit:
    """A plugin of pytest. With several processes, the one that collects the reports applies the limit."""

    def __init__(self, limit_s: float = LIMIT_S, *, processes: int = 1) -> None:
        self._limit_s, self._processes = limit_s, processes
        self._over: dict[str, float] = {}
        self._too_long: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Records a test that exceeds the limit."""
        if report.when == "call" and report.duration > self._limit_s and MARKER not in report.keywords:
            self._over[report.nodeid] = report.duration
            if report.duration > self._limit_s * max(self._processes, programs_per_core()):
                self._too_long.add(report.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fails a passed run with a test that took too long even beside the other processes."""
        if self._too_long and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Lists the tests over the limit, the slowest first."""
        if self._over:
            terminalreporter.section(f"tests over {self._limit_s:g} s without the marker {MARKER}", red=True)
        for name, seconds in sorted(self._over.items(), key=lambda pair: -pair[1]):
            verdict = "fails the run" if name in self._too_long else "beside others"
            terminalreporter.write_line(f"{seconds:.1f} s ({verdict}) {name}")


def programs_per_core() -> float:
    """Returns how many programs wanted each core in the last minute."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)
