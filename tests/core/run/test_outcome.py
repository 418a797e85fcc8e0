"""How a Pod ended, and what it means. Each row is one way in which a driver ends on a real cluster."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core.run.outcome import AttemptFailure, Success, abandoned, classify, lost
from tests.support import pods
from tests.support.builders import run, table

RUN = run("orders-compact-1", table=table())
OTHER = run("orders-compact-2", table=table())

SPARK_LOG = """26/11/21 08:10:40 WARN something
Traceback (most recent call last):
  File "main.py", line 3, in <module>
ValueError: boom
"""


def meaning(status: pods.Json, **how: Any) -> Success | AttemptFailure:
    return classify(pods.observed(RUN, status=status, **how), RUN.metadata.name)


def failure(status: pods.Json, **how: Any) -> AttemptFailure:
    outcome = meaning(status, **how)
    assert isinstance(outcome, AttemptFailure)
    return outcome


def test_a_successful_result_of_this_run_is_success() -> None:
    outcome = meaning(pods.ended(0, pods.result(RUN, after={"files": 18})))
    assert isinstance(outcome, Success)
    assert outcome.result.after is not None
    assert outcome.result.after.files == 18


@pytest.mark.parametrize("exit_code", [1, 134, 137, 143], ids=["exception", "abort", "SIGKILL", "SIGTERM"])
def test_a_crash_after_the_result_was_written_does_not_undo_it(exit_code: int) -> None:
    assert isinstance(meaning(pods.ended(exit_code, pods.result(RUN))), Success)


@pytest.mark.parametrize("exit_code", [10, 20, 25, 30, 40])
def test_an_exit_code_of_the_contract_overrides_a_successful_result(exit_code: int) -> None:
    assert isinstance(meaning(pods.ended(exit_code, pods.result(RUN))), AttemptFailure)


REPORTED = [
    (10, "Conflict", "CommitConflict", FailureClass.CONFLICT),
    (20, "Spec", "TableDiffers", FailureClass.SPEC),
    (25, "Environment", "AccessDenied", FailureClass.ENVIRONMENT),
    (30, "Infrastructure", "StorageUnreachable", FailureClass.INFRASTRUCTURE),
    (40, "ResultUnknown", "ResultUnknown", FailureClass.RESULT_UNKNOWN),
]


@pytest.mark.parametrize(("exit_code", "class_", "reason", "expected"), REPORTED)
def test_the_exit_code_gives_the_failure_class_and_the_result_gives_the_message(
    exit_code: int, class_: str, reason: str, expected: FailureClass
) -> None:
    message = pods.error(RUN, class_, reason, "column x is missing.", field="spec.schema", remedy="add it.")
    found = failure(pods.ended(exit_code, message))
    assert (found.failure_class, found.reason, found.field) == (expected, reason, "spec.schema")
    where = "spec.schema: " if expected is FailureClass.SPEC else ""
    assert found.message == f"{where}column x is missing. Add it."


@pytest.mark.parametrize(
    ("told", "field"),
    [
        ("spec.options[bucket]", "spec.bucket"),
        ("spec.options[merge-engine]", "spec.mergeEngine.type"),
        ("spec.options[sequence.field]", "spec.sequence.fields"),
        ("spec.options[fields.amount.aggregate-function]", "spec.schema.columns[amount].aggregate.function"),
        ("spec.options[fields.items.nested-key]", "spec.schema.columns[items].aggregate.nestedKey"),
        ("spec.options[fields.at,seq.sequence-group]", "spec.mergeEngine.partialUpdate.sequenceGroups"),
        ("spec.options[file.format]", "spec.options[file.format]"),
        ("spec.schema.columns[amount].type", "spec.schema.columns[amount].type"),
    ],
)
def test_an_invalid_option_is_reported_as_the_field_that_sets_it(told: str, field: str) -> None:
    found = failure(pods.ended(20, pods.error(RUN, "Spec", "TableDiffers", "it differs", field=told)))
    assert found.field == field
    assert found.message == f"{field}: it differs"


@pytest.mark.parametrize(("exit_code", "expected"), [(row[0], row[3]) for row in REPORTED])
def test_an_exit_code_of_the_contract_counts_without_a_result_too(exit_code: int, expected: FailureClass) -> None:
    found = failure(pods.ended(exit_code, SPARK_LOG))
    assert found.failure_class is expected
    assert "ValueError: boom" in found.message


def test_a_reason_that_only_a_newer_image_knows_becomes_the_reason_of_its_class() -> None:
    found = failure(pods.ended(20, pods.error(RUN, "Spec", "SomethingOfTomorrow", "m")))
    assert (found.reason, found.message) == (Reason.INVALID_SPEC, "m")


def test_a_result_of_an_operation_that_this_release_lacks_is_no_result() -> None:
    found = failure(pods.ended(0, pods.result(RUN, operation="Frobnicate")))
    assert found.failure_class is FailureClass.INFRASTRUCTURE
    assert "an operation that this release does not have, 'Frobnicate'" in found.message


def test_an_error_with_exit_code_0_is_classified_by_its_own_class() -> None:
    found = failure(pods.ended(0, pods.error(RUN, "ResultUnknown", "ResultUnknown", "m")))
    assert found.failure_class is FailureClass.RESULT_UNKNOWN


INFRASTRUCTURE = FailureClass.INFRASTRUCTURE


@pytest.mark.parametrize(
    ("status", "how", "failure_class", "reason", "words"),
    [
        (pods.ended(0), {}, INFRASTRUCTURE, "ResultMissing", "it left no result"),
        (pods.ended(0, "not json"), {}, INFRASTRUCTURE, "ResultMissing", "cannot be read"),
        (pods.ended(0, '{"version": 1, "run": "orders-com'), {}, INFRASTRUCTURE, "ResultMissing", "cannot be read"),
        (pods.ended(0, pods.result(OTHER)), {}, INFRASTRUCTURE, "ResultMissing", "orders-compact-2"),
        (pods.ended(137, reason="OOMKilled"), {}, FailureClass.OUT_OF_MEMORY, "OutOfMemory", "OOMKilled"),
        (pods.ended(137), {}, FailureClass.OUT_OF_MEMORY, "OutOfMemory", "exit code 137"),
        (pods.ended(3, SPARK_LOG), {}, FailureClass.OUT_OF_MEMORY, "OutOfMemory", "exit code 3"),
        (pods.ended(143), {"deleting": True}, INFRASTRUCTURE, "PodLost", "deleted while it ran"),
        (pods.ended(137), {"deleting": True}, INFRASTRUCTURE, "PodLost", "deleted while it ran"),
        (pods.ended(143), {}, INFRASTRUCTURE, "DriverFailed", "exit code 143"),
        (pods.ended(1, SPARK_LOG), {}, INFRASTRUCTURE, "DriverFailed", "ValueError: boom"),
        (pods.ended(11, "Max number (4)"), {}, INFRASTRUCTURE, "NoExecutors", "executors failed; its log ends: Max"),
        (pods.ended(11), {"deleting": True}, INFRASTRUCTURE, "PodLost", "deleted while it ran"),
        (pods.ended(128, "no such file", reason="StartError"), {}, INFRASTRUCTURE, "DriverFailed", "no such file"),
        (
            pods.ended(137, reason="ContainerStatusUnknown"),
            {},
            INFRASTRUCTURE,
            "PodLost",
            "container reported nothing",
        ),
        (pods.evicted(), {}, INFRASTRUCTURE, "DiskFull", "raise spark.driver.scratch"),
        (pods.evicted("The node was low on resource: memory."), {}, INFRASTRUCTURE, "Evicted", "low on resource"),
        (pods.disrupted(143), {}, INFRASTRUCTURE, "Evicted", "Eviction API"),
        (pods.disrupted(137), {"deleting": True}, INFRASTRUCTURE, "Evicted", "Eviction API"),
        ({"phase": "Failed", "reason": "NodeAffinity"}, {}, INFRASTRUCTURE, "PodLost", "NodeAffinity"),
        (pods.unschedulable(), {"deleting": True}, INFRASTRUCTURE, "PodLost", "before it was bound to a node"),
        ({"phase": "Failed"}, {}, INFRASTRUCTURE, "PodLost", "its node reports no cause"),
        ({"phase": "Failed", "reason": "DeadlineExceeded"}, {}, FailureClass.DEADLINE, "DeadlineExceeded", "stopped"),
        (pods.ended(137) | {"reason": "DeadlineExceeded"}, {}, FailureClass.DEADLINE, "DeadlineExceeded", "stopped"),
        (pods.ended(1, pods.result(OTHER)), {}, INFRASTRUCTURE, "DriverFailed", "exit code 1"),
    ],
)
def test_an_end_without_a_result_of_the_driver(
    status: pods.Json, how: dict[str, Any], failure_class: FailureClass, reason: str, words: str
) -> None:
    found = failure(status, **how)
    assert (found.failure_class, found.reason) == (failure_class, reason)
    assert words in found.message


def test_a_pod_without_a_reported_end_is_lost_and_never_success() -> None:
    assert lost("orders-compact-1-1") == AttemptFailure(
        failure_class=INFRASTRUCTURE,
        reason=Reason.POD_LOST,
        message="pod orders-compact-1-1 disappeared before its result was read",
    )


def test_only_the_end_of_a_long_log_is_reported() -> None:
    log = "\n".join(f"line {n} " + "x" * 80 for n in range(40))
    found = failure(pods.ended(1, log))
    assert "line 39" in found.message
    assert "line 10" not in found.message
    assert len(found.message) < 600


def test_what_a_terminal_would_interpret_is_removed_from_the_log() -> None:
    found = failure(pods.ended(1, "first\n\x1b]0;title\x07 \u202elast\u200b"))
    assert found.message.isprintable()
    assert found.message.endswith("; its log ends: first | ]0;title   last")


def test_of_the_lines_of_a_drivers_log_only_the_messages_are_reported() -> None:
    said = '{"time": "2026-11-26T03:00:00.000Z", "level": "ERROR", "message": "OSError: no space\\nleft", "run": "r"}'
    found = failure(pods.ended(1, f'cut off": "x"}}\n{said}\nKilled'))
    assert found.message.endswith('; its log ends: cut off": "x"} | OSError: no space left | Killed')


@pytest.mark.parametrize("line", ["[" * 4000, '{"message": 7}', "7", "null", '{"a": 1}'])
def test_a_last_line_of_another_form_is_reported_as_it_is(line: str) -> None:
    assert failure(pods.ended(1, line)).message.endswith(line[-400:])


def test_a_pod_without_a_report_of_its_node_is_lost() -> None:
    found = abandoned("orders-compact-1-1")
    assert (found.failure_class, found.reason) == (INFRASTRUCTURE, Reason.POD_LOST)
    assert found.message == "the node of pod orders-compact-1-1 never reported how it ended"


@pytest.mark.parametrize("status", [pods.running(), pods.collected(pods.running())])
def test_a_pod_that_has_not_ended_has_no_outcome(status: pods.Json) -> None:
    with pytest.raises(ValueError, match="has not ended"):
        meaning(status)
