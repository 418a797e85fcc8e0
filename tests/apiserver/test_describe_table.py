"""`kubectl describe` of a table says of each block of maintenance: the last run, the next tick, the decision with its
numbers, and what starts the next run.

The core decides on a virtual clock. A real API server stores the status, and a real kubectl shows it.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import pytest

from tests.apiserver.api import kubectl
from tests.apiserver.crds import NAMESPACE, Objects
from tests.cluster.apiserver import ApiServer
from tests.cluster.programs import KUBECTL
from tests.core.table.edited_table import seen_by_run
from tests.core.table.measured import measure
from tests.core.table.windowed import go_to
from tests.support import builders
from tests.support.docs_commands import commands_of
from tests.support.table_world import TableWorld

HOURLY, NIGHTLY = "0 * * * *", "30 1 * * *"
NIGHT: Final = {"schedule": "0 1 * * *", "duration": "4h"}
DAY: Final = {"name": "day", "type": "STRING"}
KEYED: Final[dict[str, Any]] = {
    "schema": {
        "columns": [*builders.ORDERS["columns"], DAY],
        "primaryKeys": ["order_id", "day"],
        "partitionKeys": ["day"],
    },
    "compaction": {
        "mode": "Dedicated",
        "minor": {"schedule": HOURLY, "when": {"sortedRunsPerBucket": 5}},
        "full": {"schedule": HOURLY, "when": {"deleteRatio": "20%", "fullCompactionAge": "7d"}},
    },
    "retention": {
        "snapshots": {"schedule": HOURLY, "numRetainedMax": 20, "timeRetained": "1d"},
        "partitions": {"schedule": NIGHTLY, "expirationTime": "30d", "timestampPattern": "$day"},
        "orphanFiles": {"mode": "Report", "schedule": HOURLY},
    },
}
SORTED: Final[dict[str, Any]] = {
    "schema": builders.EVENTS,
    "compaction": {
        "mode": "Dedicated",
        "sort": {"order": "Order", "columns": ["what"], "schedule": HOURLY, "when": {"unsortedFilesPerPartition": 9}},
    },
}


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What one block has to say. `checks`: name -> measured, threshold, reached."""

    block: tuple[str, ...]
    decided: tuple[str, str]
    message: str
    checks: dict[str, tuple[str, str, str]]
    next: str
    last: str
    """The time of the last run."""


WINDOW: Final = "starts at 2026-11-23T01:00:28Z in the window that opens at 2026-11-23T01:00:00Z"
ANSWERS: Final = {
    "orders": [
        Answer(
            block=("Compaction", "Minor"),
            decided=("Skipped", "NotNeeded"),
            message="sortedRunsPerBucket is 4 (threshold 5). A run starts at the first tick that finds a threshold",
            checks={"sortedRunsPerBucket": ("4", "5", "false")},
            next="2026-11-22T11:00:00Z",
            last="2026-11-22T02:05:00Z",
        ),
        Answer(
            block=("Compaction", "Full"),
            decided=("Waiting", "WaitingForWindow"),
            message=WINDOW,
            checks={
                "sortedRunsPerBucket": ("4", "2", "true"),
                "deleteRatio": ("25%", "20%", "true"),
                "fullCompactionAge": ("7h55m30s", "7d", "false"),
            },
            next="2026-11-22T03:00:00Z",
            last="2026-11-22T02:05:00Z",
        ),
        Answer(
            block=("Retention",),
            decided=("Skipped", "NotNeeded"),
            message="finds more than 20 snapshots, or more than 10 of which the oldest is older than 1d",
            checks={
                "numRetainedMax": ("12", "20", "false"),
                "timeRetained": ("9h", "1d", "false"),
                "numRetainedMin": ("12", "10", "false"),
            },
            next="2026-11-22T11:00:00Z",
            last="2026-11-22T02:05:00Z",
        ),
        Answer(
            block=("Partition Expiry",),
            decided=("Waiting", "RunSucceeded"),
            message="it waits for its next tick",
            checks={},
            next="2026-11-23T01:30:00Z",
            last="2026-11-22T02:05:00Z",
        ),
        Answer(
            block=("Orphan Files",),
            decided=("Waiting", "WaitingForWindow"),
            message=WINDOW,
            checks={},
            next="2026-11-22T03:00:00Z",
            last="2026-11-22T02:05:00Z",
        ),
    ],
    "events": [
        Answer(
            block=("Compaction", "Sort"),
            decided=("Waiting", "AnotherRunIsActive"),
            message="it is due, and waits until run events-expiresnapshots-",
            checks={"unsortedFilesPerPartition": ("9", "9", "true")},
            next="2026-11-22T03:00:00Z",
            last="2026-11-22T02:05:00Z",
        ),
        Answer(
            block=("Retention",),
            decided=("Started", "Started"),
            message="due at 2026-11-22T04:22:00Z, timeRetained is 9h (threshold 1h): run events-expiresnapshots-",
            checks={"timeRetained": ("9h", "1h", "true"), "numRetainedMin": ("12", "10", "false")},
            next="2026-11-23T04:22:00Z",
            last="2026-11-22T02:05:00Z",
        ),
    ],
}
"""Table -> its blocks at 10:00:30, after each has run in the night. One catalog has windows, the other one has none."""


def decided_table(name: str, spec: dict[str, Any], **catalog: Any) -> TableWorld:
    """A table whose blocks all ran at night, and of which a run or an observer has measured the health since."""
    seen = TableWorld(table=builders.table(name, **spec), catalog=builders.catalog(**catalog))
    seen.settle()
    seen.finish("Provision", created=True, **seen_by_run(seen))
    seen.settle()
    go_to(seen, "2026-11-22 02:05")
    seen.run_due()
    go_to(seen, "2026-11-22 02:59")
    seen.wait(hours=7, minutes=1, seconds=30)
    numbers: dict[str, Any] = {"sortedRunsMax": 4, "level0FilesMax": 9, "deleteRatio": "25%", "snapshots": 12}
    measure(seen, **numbers | {"oldestSnapshot": seen.now - timedelta(hours=9)})
    seen.settle()
    return seen


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())


def below(lines: list[str], *headings: str) -> list[str]:
    """The lines below a heading, below the one before."""
    for heading in headings:
        indent = indent_of(lines[0])
        start = lines.index(f"{' ' * indent}{heading}:") + 1
        end = next((n for n in range(start, len(lines)) if indent_of(lines[n]) <= indent), len(lines))
        lines = lines[start:end]
    return lines


def fields_of(lines: list[str]) -> dict[str, str]:
    """The values that lie directly below a heading."""
    pairs = (line.strip().partition(":") for line in lines if indent_of(line) == indent_of(lines[0]))
    return {name: value.strip() for name, _, value in pairs}


def checks_in(decision: list[str]) -> dict[str, tuple[str, str, str]]:
    """The checks, of which each has four lines."""
    if "Checks" not in fields_of(decision):
        return {}
    lines = below(decision, "Checks")
    checks = [fields_of(lines[n : n + 4]) for n in range(0, len(lines), 4)]
    return {each["Name"]: (each["Measured"], each["Threshold"], each["Reached"]) for each in checks}


@pytest.fixture
def shown(objects: Objects, api_server: ApiServer) -> dict[str, list[str]]:
    """Table -> the lines of its status."""
    lines = {}
    tables = {"orders": (KEYED, {"maintenanceWindows": [NIGHT]}), "events": (SORTED, {})}
    for name, (spec, catalog) in tables.items():
        manifest = builders.table_manifest(name, **spec)
        objects.create(manifest)
        objects.set_status(manifest, decided_table(name, spec, **catalog).table.status.to_json())
        text = kubectl(api_server.kubeconfig, "describe", "pt", name, "-n", NAMESPACE)
        lines[name] = below(text.splitlines(), "Status")
    return lines


def test_each_block_names_its_last_run_its_next_tick_its_numbers_and_what_starts_a_run(
    shown: dict[str, list[str]],
) -> None:
    for table, answers in ANSWERS.items():
        for answer in answers:
            block = below(shown[table], *answer.block)
            state, decision = fields_of(block), below(block, "Decision")
            said = fields_of(decision)
            assert (said["Result"], said["Reason"]) == answer.decided, answer
            assert answer.message in said["Message"], answer
            assert checks_in(decision) == answer.checks, answer
            assert ("Observed At" in said) is bool(answer.checks), answer
            assert state["Last Run"].startswith(f"{table}-"), answer
            assert (state["Last Time"], state["Next"]) == (answer.last, answer.next), answer


def test_these_are_all_blocks_with_a_schedule(shown: dict[str, list[str]]) -> None:
    """A new block needs its answer here."""
    answered = {answer.block for answers in ANSWERS.values() for answer in answers}
    for table, lines in shown.items():
        names = [("Compaction", name) for name in ("Minor", "Full", "Sort")] + [(each,) for each in fields_of(lines)]
        for name in names:
            heading = f"{' ' * (indent_of(lines[0]) + 2 * (len(name) - 1))}{name[-1]}:"
            if heading in lines and name[0] != "Effective" and "Schedule" in fields_of(below(lines, *name)):
                assert name in answered, (table, name)


def test_the_commands_of_the_page_show_the_decision_and_start_a_run_by_hand(
    shown: dict[str, list[str]], objects: Objects, api_server: ApiServer
) -> None:
    """As an engineer runs them whose full compaction did not run in the night."""
    assert shown
    headings = ("## If a compaction did not run", "### Compact it now")
    commands = "".join(commands_of("docs/maintenance.md", each) for each in headings)
    environment = os.environ | {
        "KUBECONFIG": str(api_server.kubeconfig),
        "PATH": f"{KUBECTL.path.parent}:{os.environ['PATH']}",
    }

    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands], env=environment, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    state, _, rest = done.stdout.partition("}\n")
    assert "WaitingForWindow" in state
    assert WINDOW in state
    assert '"next":"2026-11-22T03:00:00Z"' in state
    assert "Orphan Files:" in rest, "the description of the table"
    (run,) = objects.names("PaimonRun")
    assert run.startswith("orders-compact-")
