"""The report of `make test-long`: a line of JSON is added when a part has ended, and a page is made of all lines.

`python -m tests.support.long_report LINES PAGE COMMIT BEGAN JUNIT`, with BEGAN in seconds since 1970. The JUnit report
of a part has the name `junit-PART.xml`. Exit code 1 unless it is there and every test in it passed.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

Line = Mapping[str, Any]
SLOWEST: Final = 25
LONGEST_NAME: Final = 100
"""Characters. With it a line of the page stays within the limit for lines of docs."""
_PAGE: Final = """\
# `make test-long`

Made by `make test-long` from `test-long.jsonl`, to which every part adds a line when it ends, also one that fails. The
commit is that of the checkout when the call began; `-dirty`: files that are in the repository had been changed.
`properties` are the random worlds of the unit suite, ten thousand of each and fewer of the slow ones. `apiserver` are
the long tests of the API server. `faults` are ten moments of each fault and the soak, `releases` are the tests that
build images or clusters of their own or change the node's release, `storages` the life of a table on each storage, and
`node` the other long tests of the node: lines of `node` until 2026-11-28 have all four. `histories` are random
histories of edits and random schedules of maintenance on every engine, `manifests` the tables of generated manifests
and each type of a key, `rescales` the rescales on each storage, those that are killed, and those with executors, and
`matrix` is every other test of `tests/spark` on every engine: lines of `matrix` until 2026-11-29 have `manifests` and
`rescales` too. Early lines are of a whole call. Seconds are those of one test with its fixtures, beside other tests on
the same machine; nothing asserts them.
"""


@dataclass(frozen=True)
class Case:
    """One test of a JUnit report."""

    name: str
    """`tests.e2e.test_faults::test_x[parameters]`."""
    seconds: float
    passed: bool

    @property
    def file(self) -> str:
        """The module of the test."""
        module = self.name.partition("::")[0]
        parts = module.split(".")
        return ".".join(parts[:-1] if parts[-1].startswith("Test") else parts)


def cases(report: Path) -> list[Case]:
    """The tests of one report; a test whose teardown failed is there twice, and failed. Raises OSError."""
    found = ElementTree.parse(report).iter("testcase")  # noqa: S314 - our own pytest wrote it
    return [_case(each) for each in found]


def _case(element: ElementTree.Element) -> Case:
    name = f"{element.get('classname', '')}::{element.get('name', '')}"
    passed = not {child.tag for child in element} & {"failure", "error", "skipped"}
    return Case(name, float(element.get("time", 0)), passed)


@dataclass(frozen=True, kw_only=True)
class Result:
    """One part of `make test-long`: a line of the report."""

    date: str
    commit: str
    parts: list[str]
    """The one part. Early lines, of a whole call, have two."""
    minutes: float
    tests: int
    failed: list[str]
    """Tests that did not pass, or that there was none."""
    files: dict[str, tuple[int, float]]
    """Tests and seconds of each file."""
    slowest: list[tuple[str, float]]


def result(report: Path, *, commit: str, began: float, now: float) -> Result:
    """The result of a part. A missing or empty report counts as a failure."""
    found = cases(report) if report.exists() else []
    files: dict[str, tuple[int, float]] = defaultdict(lambda: (0, 0.0))
    for case in found:
        tests, seconds = files[case.file]
        files[case.file] = (tests + 1, round(seconds + case.seconds, 1))
    slowest = sorted(found, key=lambda case: -case.seconds)[:SLOWEST]
    return Result(
        date=f"{datetime.fromtimestamp(began, UTC):%Y-%m-%d}",
        commit=commit,
        parts=[report.stem.removeprefix("junit-")],
        minutes=round((now - began) / 60, 1),
        tests=len(found),
        failed=[case.name for case in found if not case.passed] if found else [f"no test in {report.name}"],
        files=dict(sorted(files.items())),
        slowest=[(case.name, round(case.seconds, 1)) for case in slowest],
    )


def page(lines: Iterable[Line]) -> str:
    """The page of all lines, with the tests of the last line of each part."""
    every = list(lines)
    if not every:
        return f"{_PAGE}\nNo call has been recorded.\n"
    parts = [_PAGE, _table(["date", "commit", "parts", "result", "tests", "minutes"], [_row(line) for line in every])]
    latest = {part: number for number, line in enumerate(every) for part in line["parts"]}
    for number in sorted(set(latest.values()), reverse=True):
        parts += _sections(every[number])
    return "\n".join(parts)


def _sections(line: Line) -> list[str]:
    """What failed in a call, what ran, and what took longest."""
    call = f"{' and '.join(line['parts'])} on {line['commit']}"
    files = [[file, str(tests), f"{seconds:.0f}"] for file, (tests, seconds) in line["files"].items()]
    slowest = [[_clipped(name), f"{seconds:.0f}"] for name, seconds in line["slowest"]]
    failed = "".join(f"* `{_clipped(name)}`\n" for name in line["failed"])
    return [
        *([f"## What failed: {call}\n\n{failed}"] if failed else []),
        f"## What ran: {call}\n\n" + _table(["file", "tests", "seconds"], files),
        f"## The slowest tests: {call}\n\n" + _table(["test", "seconds"], slowest),
    ]


def _row(line: Line) -> list[str]:
    result_ = f"{len(line['failed'])} failed" if line["failed"] else "passed"
    parts = " and ".join(line["parts"])
    return [line["date"], line["commit"], parts, result_, str(line["tests"]), f"{line['minutes']:.0f}"]


def _clipped(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 3] + "..."


def _table(head: list[str], rows: list[list[str]]) -> str:
    cells = [[cell.replace("|", "/") for cell in row] for row in rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, ["---"] * len(head), *cells])


def main(lines: str, target: str, commit: str, began: str, report: str) -> int:
    """Adds the line and writes the page. Returns 1 if a test did not pass, else 0."""
    done = result(Path(report), commit=commit, began=float(began), now=time.time())
    with Path(lines).open("a") as file:
        file.write(json.dumps(asdict(done)) + "\n")
    Path(target).write_text(page(json.loads(line) for line in Path(lines).read_text().splitlines()))
    return 1 if done.failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
