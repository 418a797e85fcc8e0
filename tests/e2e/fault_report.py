"""The report of the faults of `make test-long` and `make test-faults`: a line of JSON per moment, and a page of all.

`python -m tests.e2e.fault_report LINES PAGE`
"""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from tests.e2e.faults import API_SERVER_OUTAGE_S, FAULTS, STORAGE_OUTAGE_S
from tests.e2e.trials import KEYS, Outcome

Line = Mapping[str, Any]

_PAGE: Final = f"""\
# Faults under way

Made by `make test-long` or `make test-faults` from `faults.jsonl`, to which every call adds; lines of an older state of
the code are taken out as new ones come. The commit is that of the checkout when the call began, and so of the images
(in lines of before 2026-11-23 it is that of the checkout when the moment was over, which others may have been working
in).

A table's runs are struck at random moments between the decision to start and the end of the driver. Afterwards each of
{KEYS} keys has the sum of
all writes, each once (read by pypaimon), the run has succeeded, the table is Ready and nothing is Stalled, and no Pod,
ConfigMap or Lease is left that no run accounts for. Drivers are counted twice a second, in /proc and not by the API
server. Storage servers are away for {STORAGE_OUTAGE_S} s, the API server for {API_SERVER_OUTAGE_S} s; "right again"
counts from the beginning of the fault. Figures of one machine that was busy with other things; nothing asserts them.
A call takes ten moments of each fault (FAULT_MOMENTS); the table says how many have been taken so far.
"""


def note(outcome: Outcome, *, seed: int) -> None:
    """Adds the line, if a report is wanted."""
    if file := os.environ.get("FAULT_REPORT"):
        stamp = {"date": f"{datetime.now(UTC):%Y-%m-%d}", "commit": os.environ["FAULT_COMMIT"], "seed": seed}
        with Path(file).open("a") as lines:
            lines.write(json.dumps(stamp | asdict(outcome)) + "\n")


def page(lines: Iterable[Line]) -> str:
    """The page of all lines."""
    by_fault: dict[str, list[Line]] = {fault.name: [] for fault in FAULTS}
    for line in lines:
        by_fault.setdefault(line["fault"], []).append(line)
    summary = [_summary(fault, found) for fault, found in by_fault.items()]
    parts = [_PAGE, _table(list(summary[0]), [list(row.values()) for row in summary])]
    for fault, found in ((fault, found) for fault, found in by_fault.items() if found):
        rows = [_detail(line) for line in found]
        parts.append(f"## {fault}\n\n" + _table(list(rows[0]), [list(row.values()) for row in rows]))
    return "\n".join(parts)


def _summary(fault: str, lines: list[Line]) -> dict[str, str]:
    seconds = [line["right_after"] for line in lines if line["right_after"] is not None]
    attempts = Counter(line["attempts"] for line in lines)
    return {
        "fault": fault,
        "moments": str(len(lines)),
        "where the run was": _counted(Counter(line["stage"] for line in lines)),
        "attempts": _counted(attempts),
        "right again, median": f"{statistics.median(seconds):.0f} s" if seconds else "-",
        "longest": f"{max(seconds):.0f} s" if seconds else "-",
        "drivers at once": str(max((line["drivers"] for line in lines), default=0)),
        "not right": str(sum(bool(line["wrong"]) for line in lines)),
    }


def _counted(counter: Counter[Any]) -> str:
    return ", ".join(f"{count} x {what}" for what, count in sorted(counter.items()))


def _detail(line: Line) -> dict[str, str]:
    after = line["right_after"]
    return {
        "date": line["date"],
        "commit": line["commit"],
        "seed": str(line["seed"]),
        "struck": f"{line['work']} at {line['share']:.3f} = {line['second']:.1f} s, {line['stage']}",
        "attempts": f"{line['attempts']} {', '.join(line['failures'])}".strip(),
        "right again": "never" if after is None else f"{after:.0f} s",
        "drivers": str(line["drivers"]),
        "longest between looks": f"{line['watch_gap']:.1f} s",
        "rows": str(line["rows"]),
        "wrong": line["wrong"].replace("\n", " ").replace("|", "/")[:300],
    }


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def main() -> None:
    source, target = (Path(argument) for argument in sys.argv[1:])
    target.write_text(page(json.loads(line) for line in source.read_text().splitlines()))


if __name__ == "__main__":
    main()
