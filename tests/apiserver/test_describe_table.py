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

from paimon_operator.api.retention import Retention
from paimon_operator.core.operations.registry import OPERATIONS
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

HOURLY = "0 * * * *"
NIGHT: Final = {"schedule": "0 1 * * *", "duration": "4h"}
DAY: Final = {"name": "day", "type": "DATE"}
UPDATED: Final = {"name": "updated_at", "type": "BIGINT"}
KEYED: Final[dict[str, Any]] = {
    "schema": {
        "columns": [*builders.ORDERS["columns"], UPDATED, DAY],
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
        "partitions": {"schedule": HOURLY, "expirationTime": "30d", "timestampPattern": "$day"},
        "orphanFiles": {"mode": "Report", "olderThan": "1d", "schedule": HOURLY},
    },
}
"""Its snapshots expire by their number and age alone: the need of a run is known."""
TAGGED: Final[dict[str, Any]] = {
    "schema": KEYED["schema"],
    "changelogProducer": {"type": "Lookup"},
    "compaction": {"mode": "Dedicated", "full": {"schedule": HOURLY}},
    "tags": {"automaticCreation": "ProcessTime"},
    "retention": {
        "snapshots": {"schedule": HOURLY, "timeRetained": "1h"},
        "changelogs": {"timeRetained": "3d"},
        "consumers": {"expirationTime": "7d"},
        "records": {"expireTime": "90d", "timeField": "updated_at"},
    },
}
SORTED: Final[dict[str, Any]] = {
    "schema": builders.EVENTS,
    "compaction": {
        "mode": "Dedicated",
        "sort": {"order": "Order", "columns": ["what"], "schedule": HOURLY, "when": {"unsortedFilesPerPartition": 9}},
    },
}


MARKED: Final[dict[str, Any]] = {
    "schema": KEYED["schema"],
    "markPartitionsDone": {"timeInterval": "1d", "idleTime": "1h", "timestampPattern": "$day", "schedule": HOURLY},
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
    applies: tuple[str, ...] = ()
    """Blocks without a schedule for which it answers too."""


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
            decided=("Waiting", "WaitingForWindow"),
            message=WINDOW,
            checks={"expirationTime": ("52d10h30s", "30d", "true")},
            next="2026-11-22T03:00:00Z",
            last="2026-11-22T02:05:00Z",
        ),
        Answer(
            block=("Orphan Files",),
            decided=("Waiting", "WaitingForWindow"),
            message=WINDOW,
            checks={"olderThan": ("7h55m30s", "1d", "false"), "orphanFiles": ("9", "1", "true")},
            next="2026-11-22T03:00:00Z",
            last="2026-11-22T02:05:00Z",
        ),
    ],
    "tagged": [
        Answer(
            block=("Compaction", "Full"),
            decided=("Waiting", "WaitingForWindow"),
            message="in the window that opens at 2026-11-23T01:00:00Z",
            checks={"sortedRunsPerBucket": ("4", "2", "true"), "level0FilesPerBucket": ("9", "1", "true")},
            next="2026-11-22T03:00:00Z",
            last="2026-11-22T02:05:00Z",
            applies=("retention.records",),
        ),
        Answer(
            block=("Retention",),
            decided=("Waiting", "WaitingForWindow"),
            message="in the window that opens at 2026-11-23T01:00:00Z",
            checks={"timeRetained": ("9h", "1h", "true"), "numRetainedMin": ("12", "10", "false")},
            next="2026-11-22T03:00:00Z",
            last="2026-11-22T02:05:00Z",
            applies=("retention.changelogs", "retention.consumers", "tags"),
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
    "marked": [
        Answer(
            block=("Partitions Done",),
            decided=("Skipped", "NotNeeded"),
            message="(threshold 1). A run starts at the first tick after the next commit",
            checks={"unmarkedPartitions": ("0", "1", "false")},
            next="2026-11-22T11:00:00Z",
            last="2026-11-22T02:05:00Z",
        ),
    ],
}
"""Table -> its blocks at 10:00:30, after each has run in the night. The catalog of `events` has no windows."""


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
    numbers |= {"oldestSnapshot": seen.now - timedelta(hours=9), "oldestPartition": "day=2026-10-01"}
    measure(seen, **numbers)
    record_found(seen)
    seen.settle()
    return seen


def record_found(seen: TableWorld) -> None:
    """The last search for orphan files has reported some, and the last marks have left no partition without one."""
    status = seen.table.status
    update: dict[str, Any] = {}
    if status.orphan_files is not None:
        update["orphan_files"] = status.orphan_files.model_copy(update={"files": 9, "bytes": 90})
    if status.partitions_done is not None:
        update["partitions_done"] = status.partitions_done.model_copy(update={"unmarked": 0, "snapshot": 2})
    seen.table = seen.table.model_copy(update={"status": status.model_copy(update=update)})


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


def applied_by(block: list[str]) -> tuple[str, ...]:
    """The other blocks that the runs of a schedule apply."""
    return tuple(line.strip() for line in below(block, "Applies")) if "Applies" in fields_of(block) else ()


@pytest.fixture
def shown(objects: Objects, api_server: ApiServer) -> dict[str, list[str]]:
    """Table -> the lines of its status."""
    lines = {}
    windows = {"maintenanceWindows": [NIGHT]}
    tables: dict[str, tuple[dict[str, Any], dict[str, Any]]]
    tables = {"orders": (KEYED, windows), "tagged": (TAGGED, windows), "events": (SORTED, {}), "marked": (MARKED, {})}
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
            assert applied_by(block) == answer.applies, answer


def test_these_are_all_blocks_with_a_schedule(shown: dict[str, list[str]]) -> None:
    """A new block needs its answer here."""
    answered = {answer.block for answers in ANSWERS.values() for answer in answers}
    for table, lines in shown.items():
        names = [("Compaction", name) for name in ("Minor", "Full", "Sort")] + [(each,) for each in fields_of(lines)]
        for name in names:
            heading = f"{' ' * (indent_of(lines[0]) + 2 * (len(name) - 1))}{name[-1]}:"
            if heading in lines and name[0] != "Effective" and "Schedule" in fields_of(below(lines, *name)):
                assert name in answered, (table, name)


def test_each_operation_with_a_schedule_is_answered_for() -> None:
    """But writes, which are no maintenance, and Provision, Rescale and Observe, which belong to the schema."""
    of_block = {
        "Compaction": "Compact",
        "Retention": "ExpireSnapshots",
        "Partition Expiry": "ExpirePartitions",
        "Orphan Files": "RemoveOrphanFiles",
        "Partitions Done": "MarkPartitionsDone",
    }
    answered = {of_block[answer.block[0]] for answers in ANSWERS.values() for answer in answers}
    recurring = {each.type for each in OPERATIONS.recurring if each.in_windows or each.is_maintenance}
    assert answered == recurring


def test_each_block_of_retention_and_the_tags_are_answered_for() -> None:
    """By a schedule of their own, or by the schedule whose runs apply them. A new block needs its answer here."""
    own = {("Retention",): "snapshots", ("Partition Expiry",): "partitions", ("Orphan Files",): "orphanFiles"}
    answers = [each for of_table in ANSWERS.values() for each in of_table]
    answered = {f"retention.{own[each.block]}" for each in answers if each.block in own}
    answered |= {block for each in answers for block in each.applies}
    blocks = {f"retention.{field.alias or name}" for name, field in Retention.model_fields.items()}
    assert answered == blocks | {"tags"}


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
