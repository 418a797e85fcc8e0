"""Runs the tests again that took more than the limit beside others: one at a time, where the limit itself holds.

`python -m tests.support.measured_alone SECONDS...` runs those of the files (`tests.support.time_limit`) that RECORD
does not know as short when alone, and that may be over the limit: what a test takes beside others is divided by how
much longer the tests of RECORD took than alone. So a slow machine does not run a dozen tests twice. With `--record` it
runs those of RECORD as well, and those near the limit, and writes RECORD anew.
The exit code is pytest's: a test over the limit fails.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from statistics import median
from typing import Final

from tests.support.engine_matrix import WHOLE_MATRIX
from tests.support.time_limit import LIMIT_S, SECONDS_TO

ROOT: Final = Path(__file__).parents[2]
RECORD: Final = ROOT / "tests" / "measured_alone.json"
"""Seconds of the tests that took more than the limit beside others, each measured alone."""
NEAR_S: Final = LIMIT_S / 2
"""A test that took longer beside others may exceed the limit the next time, so the record has it too."""
DOUBTFUL_S: Final = 2 * LIMIT_S
"""A test of the record that would take longer when alone, by `slower_by`, is measured again."""
_SECONDS: Final = ROOT / "build" / "seconds-alone.json"


def slower_by(beside_others: Mapping[str, float], record: Mapping[str, float]) -> float:
    """How many times as long a test takes beside others, on this machine, as the record says that it took alone.

    It is the median of the tests that have both. At least 1, which is also the result where none has.
    """
    times = [seconds / record[_name(test)] for test, seconds in beside_others.items() if record.get(_name(test))]
    return max(1.0, median(times)) if times else 1.0


def to_measure(beside_others: Mapping[str, float], record: Mapping[str, float], *, over_s: float = LIMIT_S) -> set[str]:
    """Returns the tests that have to run alone: those that may take over `over_s` then, and are unknown or doubtful."""
    times = slower_by(beside_others, record)
    alone = {_name(test): seconds / times for test, seconds in beside_others.items()}
    return {test for test, seconds in alone.items() if seconds > (DOUBTFUL_S if test in record else over_s)}


def selection(tests: Collection[str]) -> list[str]:
    """Returns what pytest is asked for: a step of a story comes with its class, whose tests run in order."""
    return sorted({"::".join(test.split("::")[:2]) if "::Test" in test else test for test in tests})


def new_record(seconds: Mapping[str, float], asked: Collection[str]) -> dict[str, float]:
    """Returns the record of the tests asked for; a step brings the other steps of its class, which are not in it."""
    return {test: round(seconds[test], 1) for test in sorted(asked) if test in seconds}


def main(arguments: list[str]) -> int:
    """Runs the tests. Returns pytest's exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("seconds", type=Path, nargs="+")
    given = parser.parse_args(arguments)
    record: dict[str, float] = json.loads(RECORD.read_text())
    files = [each for each in given.seconds if each.exists() or not given.record]
    beside_others = {test: seconds for each in files for test, seconds in json.loads(each.read_text()).items()}
    tests = to_measure(beside_others, record, over_s=NEAR_S if given.record else LIMIT_S)
    tests |= set(record) if given.record else set()
    if not tests:
        return 0
    code = _run(selection(tests))
    if given.record and code == 0:
        RECORD.write_text(json.dumps(new_record(json.loads(_SECONDS.read_text()), tests), indent=1) + "\n")
    return code


def _name(test: str) -> str:
    """The id of a test without the group that xdist adds."""
    return test.rpartition("@")[0] or test


def _run(selected: list[str]) -> int:
    sys.stdout.write(f"measured alone, because they took more than {LIMIT_S:g} s beside others: {len(selected)}\n")
    sys.stdout.flush()
    pytest = [sys.executable, "-m", "pytest", "-n", "0", WHOLE_MATRIX, SECONDS_TO, str(_SECONDS), "--durations=25"]
    return subprocess.run([*pytest, *selected], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
