"""Every run ends once with the right result, whatever fault occurs: one table per fault, at random moments.

FAULT_SEED repeats the moments. `make test-long` and `make test-faults` take ten of each (FAULT_MOMENTS) and record
down (FAULT_REPORT).
"""

from __future__ import annotations

import os
import random
import zlib
from collections.abc import Callable, Iterator

import pytest
from _pytest.mark import ParameterSet

from tests.e2e import fault_report
from tests.e2e.drivers import DriverWatch
from tests.e2e.faults import FAULTS, Fault
from tests.e2e.lab import Lab
from tests.e2e.trials import Trials, moments

pytestmark = pytest.mark.long
SEED = int(os.environ.get("FAULT_SEED") or random.randrange(10**6))  # noqa: S311 - moments, not secrets
LONGEST_GAP_S = 5
"""Between two looks for drivers, which are half a second apart on a machine at rest: a driver takes longer to start."""
MOMENTS = int(os.environ.get("FAULT_MOMENTS") or 1)


def marked(fault: Fault) -> ParameterSet:
    """Adds the time-out: each moment takes its fault's time, two further attempts and their pauses."""
    marks = [pytest.mark.timeout(600 + 900 * MOMENTS)]
    marks += [pytest.mark.own_node] if fault.own_node else []
    marks += [pytest.mark.xdist_group(fault.group)] if fault.group else []
    return pytest.param(fault, id=fault.name, marks=marks)


@pytest.fixture
def trials(lab: Lab, fault: Fault) -> Iterator[Trials]:
    """The trials of a table whose name is no prefix of another test's runs."""
    with fault.place(lab) as placed, DriverWatch(f"faulted{zlib.crc32(lab.namespace.encode()):08x}") as watch:
        begun = Trials(placed, watch)
        begun.begin()
        yield begun


@pytest.mark.parametrize("fault", [marked(each) for each in FAULTS])
def test_a_run_with_a_fault_ends_once_with_the_right_result(
    trials: Trials, fault: Fault, record_property: Callable[[str, object], None]
) -> None:
    for moment in moments(SEED, fault.name, MOMENTS):
        outcome = trials.inject(fault, moment)

        record_property("moment", f"FAULT_SEED={SEED} {outcome.sentence()}")
        fault_report.note(outcome, seed=SEED)
        assert outcome.wrong == ""
        assert outcome.drivers == 1, "drivers of one table at once, at most"
        assert outcome.watch_gap < LONGEST_GAP_S, "the watch had a gap"
        assert outcome.attempts <= fault.attempts, outcome.failures
