"""The time limit of tests without the marker `long`: the run names every such test of more than LIMIT_S seconds.

The run fails when such a test took more than twice the limit, because several processes share two cores. Only the call
counts. Fixtures do not count, because several tests share their servers, nodes and tables.
"""

from __future__ import annotations

import pytest

LIMIT_S = 60.0
"""Seconds that one test may take while nothing else runs on the machine."""
STRETCH = 2
"""Factor for a test that runs beside tests of other processes."""
MARKER = "long"


class TimeLimit:
    """A plugin of pytest. With several processes, the one that collects the reports applies the limit."""

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        self._limit_s = limit_s
        self._over: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Records a test that exceeds the limit."""
        if report.when == "call" and report.duration > self._limit_s and MARKER not in report.keywords:
            self._over[report.nodeid] = report.duration

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fails a passed run with a test over STRETCH times the limit."""
        if (
            any(seconds > STRETCH * self._limit_s for seconds in self._over.values())
            and session.exitstatus == pytest.ExitCode.OK
        ):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Lists the tests over the limit, the slowest first."""
        if self._over:
            limit = (
                f"{self._limit_s:g} s without the marker {MARKER}; over {STRETCH * self._limit_s:g} s they fail the run"
            )
            terminalreporter.section(f"tests over {limit}", red=True)
        for name, seconds in sorted(self._over.items(), key=lambda pair: -pair[1]):
            terminalreporter.write_line(f"{seconds:.1f} s {name}")
