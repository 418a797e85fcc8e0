"""The report of `make test-long` and `make test-faults`: a line of JSON per moment, and a page of all lines.

`python -m tests.e2e.fault_report LINES PAGE`
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from tests.e2e.faults import API_SERVER_OUTAGE_S, FAULTS, STORAGE_OUTAGE_S
from tests.e2e.trials import KEYS, Outcome

Line = Mapping[str, Any]

_LINE_LENGTH: Final = 120

_PAGE: Final = f"""\
# Faults

This report shows how tables recover when a fault hits one of their runs.
`make test-long` and `make test-faults` generate it from `faults.jsonl` and add lines to that file with every call.
A call takes ten moments of each fault (`FAULT_MOMENTS`). The table states how many moments are recorded.
Lines of an older state of the code are removed when new ones are added.

**Commit.** The commit is that of the checkout at the start of the call, and so that of the images.
Lines dated before 2026-11-23 name the commit of the checkout at the end of the moment.
Others may have been working in that checkout.

**Method.** Each fault is injected at a random moment between the decision to start a run and the end of its driver.
Afterwards the test checks that:

* each of {KEYS} keys has the sum of all writes, each counted once (read by pypaimon);
* the run has succeeded, the table is Ready and nothing is Stalled;
* no Pod, ConfigMap or Lease is left without a run that accounts for it.

Drivers are counted twice a second in `/proc`, not through the API server.
Storage servers are stopped for {STORAGE_OUTAGE_S} s, the API server for {API_SERVER_OUTAGE_S} s.
"Recovered after" counts from the start of the fault until all of this holds.
The figures come from one machine that was busy with other work. No test asserts them.
"""

_STAGES: Final = ("no driver yet", "JVM starting", "driver running", "after the commit")
"""Stages of a run, in their order."""

_COLUMNS: Final = """\
Columns: the run and the moment, as a share of a run's usual time and in seconds after the decision; the stage that the
run had reached; its attempts; the time until recovery; the most drivers at once; the longest time between two counts
of drivers; the rows read.
"""


def note(outcome: Outcome, *, seed: int) -> None:
    """Adds a line to the file FAULT_REPORT, if it is set."""
    if file := os.environ.get("FAULT_REPORT"):
        stamp = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "commit": os.environ["FAULT_COMMIT"], "seed": seed}
        with Path(file).open("a") as lines:
            lines.write(json.dumps(stamp | asdict(outcome)) + "\n")


def page(lines: Iterable[Line]) -> str:
    """Returns the page of all lines."""
    by_fault: dict[str, list[Line]] = {fault.name: [] for fault in FAULTS}
    for line in lines:
        by_fault.setdefault(line["fault"], []).append(line)
    parts = [
        _PAGE,
        _table([_recovery(fault, found) for fault, found in by_fault.items()]),
        "Stage of the run when the fault was injected, in moments:\n",
        _table([_stages(fault, found) for fault, found in by_fault.items()]),
        "## Details\n",
        _COLUMNS,
        *(_details(fault, found) for fault, found in by_fault.items() if found),
    ]
    return "\n".join(parts)


def _recovery(fault: str, lines: list[Line]) -> dict[str, str]:
    seconds = [line["right_after"] for line in lines if line["right_after"] is not None]
    attempts = Counter(line["attempts"] for line in lines)
    return {
        "fault": fault,
        "moments": str(len(lines)),
        "runs x attempts": ", ".join(f"{count} x {made}" for made, count in sorted(attempts.items())),
        "recovered after, median": f"{statistics.median(seconds):.0f} s" if seconds else "-",
        "longest": f"{max(seconds):.0f} s" if seconds else "-",
        "drivers at once": str(max((line["drivers"] for line in lines), default=0)),
        "not recovered": str(sum(bool(line["wrong"]) for line in lines)),
    }


def _stages(fault: str, lines: list[Line]) -> dict[str, str]:
    found = Counter(line["stage"] for line in lines)
    return {"fault": fault} | {stage: str(found[stage]) for stage in _STAGES}


def _details(fault: str, lines: list[Line]) -> str:
    """Returns the section of one fault: a table per call of `make test-faults`, and the failures."""
    parts = [f"### {fault}\n"]
    for (date, commit, seed), found in groupby(lines, key=lambda line: (line["date"], line["commit"], line["seed"])):
        called = list(found)
        parts += [f"{date}, commit {commit}, seed {seed}:\n", _table([_detail(line) for line in called])]
        parts += [_complaint(line) for line in called if line["wrong"]]
    return "\n".join(parts)


def _detail(line: Line) -> dict[str, str]:
    after = line["right_after"]
    failures: Counter[str] = Counter(line["failures"])
    why = ", ".join(f"{count} x {reason}" for reason, count in failures.items())
    return {
        "fault at": f"{line['run_type']} at {line['share']:.3f} = {line['second']:.1f} s",
        "stage": line["stage"],
        "attempts": f"{line['attempts']} ({why})" if why else str(line["attempts"]),
        "recovered": "never" if after is None else f"{after:.0f} s",
        "drivers": str(line["drivers"]),
        "gap": f"{line['watch_gap']:.1f} s",
        "rows": str(line["rows"]),
    }


def _complaint(line: Line) -> str:
    wrong = " ".join(line["wrong"].split())[:300]
    return textwrap.fill(f"Not recovered, {line['run_type']} at {line['share']:.3f}: {wrong}", _LINE_LENGTH) + "\n"


def _table(rows: list[dict[str, str]]) -> str:
    head = list(rows[0])
    lines = [head, ["---"] * len(head), *(list(row.values()) for row in rows)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def main() -> None:
    source, target = (Path(argument) for argument in sys.argv[1:])
    target.write_text(page(json.loads(line) for line in source.read_text().splitlines()))


if __name__ == "__main__":
    main()
