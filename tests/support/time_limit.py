"""The time limit of tests without the marker `long`: LIMIT_S seconds for the call of a test that runs alone.

Only the call counts. Fixtures do not count, because several tests share their servers, nodes and tables.
Tests that run side by side slow each other down. So a session of several processes writes the seconds of its tests to
the file of SECONDS_TO, and `tests.support.measured_alone` runs those over the limit again, one at a time. Any other
session fails at the limit itself.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

LIMIT_S: Final = 60.0
MARKER: Final = "long"
SECONDS_TO: Final = "--seconds-to"
"""Option of pytest: the file for the seconds of each test without the marker, as JSON."""


class TimeLimit:
    """A plugin of pytest. With several processes, the one that collects the reports applies the limit."""

    def __init__(self, limit_s: float, *, seconds_to: Path | None, judges: bool) -> None:
        self._limit_s, self._seconds_to, self._judges = limit_s, seconds_to, judges
        self._seconds: dict[str, float] = {}

    @property
    def _over(self) -> dict[str, float]:
        return {test: seconds for test, seconds in self._seconds.items() if seconds > self._limit_s}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Records the seconds of a test."""
        if report.when == "call" and MARKER not in report.keywords:
            self._seconds[report.nodeid] = report.duration

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Writes the seconds. Fails a passed session with a test over the limit, if this session judges."""
        if self._seconds_to:
            self._seconds_to.write_text(json.dumps(self._seconds, indent=0))
        if self._judges and self._over and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Lists the tests over the limit, the slowest first."""
        if self._over:
            terminalreporter.section(f"tests over {self._limit_s:g} s without the marker {MARKER}", red=True)
        for test, seconds in sorted(self._over.items(), key=lambda pair: -pair[1]):
            terminalreporter.write_line(f"{seconds:.1f} s {test}")


def limit_of(config: pytest.Config, limit_s: float = LIMIT_S) -> TimeLimit | None:
    """Returns the plugin for a session; None for the processes that a session of several starts."""
    if hasattr(config, "workerinput"):
        return None
    seconds_to: Path | None = config.getoption(SECONDS_TO)
    beside_others = (config.getoption("numprocesses", None) or 1) > 1
    return TimeLimit(limit_s, seconds_to=seconds_to, judges=not (beside_others and seconds_to))
