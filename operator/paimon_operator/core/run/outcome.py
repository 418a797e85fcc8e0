"""Classifies the end of a driver Pod: success with its result, or a failure with class, reason and message.

Sources in order of trust: the result document of this run, an exit code of the contract, then what Kubernetes reports
about the container and the Pod. An end without a successful result is never a success.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

from paimon_contract.exit_codes import ExitCode
from paimon_contract.result import Result
from paimon_operator.api.base import printable
from paimon_operator.api.reasons import Reason, known_reason
from paimon_operator.api.run.result import read_result
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core.operations import registry
from paimon_operator.core.run.pod import PodObserved, Terminated
from paimon_operator.core.spec.paimon_options import field_of_option
from paimon_operator.errors import ContractError

JVM_OUT_OF_MEMORY: Final = 3
"""-XX:+ExitOnOutOfMemoryError; spark-submit passes it through."""
TOO_MANY_EXECUTORS_FAILED: Final = 11
"""Spark's exit code for an application whose executors failed too often."""
SIGKILLED: Final = 137
TAIL_LENGTH: Final = 500
"""Characters of the log's end that a message contains."""
_SCRATCH_IS_FULL: Final = "Usage of EmptyDir volume"
"""Begin of the kubelet's message when a Pod has taken more disk space than its scratch volume may."""
_FREE_OPTION: Final = re.compile(r"spec\.options\[(.+)\]")


@dataclass(frozen=True, kw_only=True)
class Success:
    """The driver reports success."""

    result: Result


@dataclass(frozen=True, kw_only=True)
class AttemptFailure:
    """The attempt failed, or it is unknown what it did."""

    failure_class: FailureClass
    reason: Reason
    message: str
    """The problem and the remedy, in one or two sentences."""
    field: str | None = None
    """Path of the field to edit, in the table's manifest or its catalog's; None if no field is wrong."""
    result: Result | None = None
    """The driver's result document; None if it left none."""


_BY_EXIT_CODE: Final = {
    ExitCode.CONFLICT: (FailureClass.CONFLICT, Reason.COMMIT_CONFLICT),
    ExitCode.SPEC: (FailureClass.SPEC, Reason.INVALID_SPEC),
    ExitCode.ENVIRONMENT: (FailureClass.ENVIRONMENT, Reason.DRIVER_FAILED),
    ExitCode.JOB_CHANGED: (FailureClass.ENVIRONMENT, Reason.JOB_CHANGED),
    ExitCode.INFRASTRUCTURE: (FailureClass.INFRASTRUCTURE, Reason.DRIVER_FAILED),
    ExitCode.RESULT_UNKNOWN: (FailureClass.RESULT_UNKNOWN, Reason.RESULT_UNKNOWN),
}


def classify(pod: PodObserved, run: str) -> Success | AttemptFailure:
    """What the end of this Pod means for the run named `run`. Raises ValueError if nothing is known about the end."""
    if not pod.end_known:
        raise ValueError(f"pod {pod.name} has not ended")
    result, why_none = _result(pod.container.terminated, run)
    code = None if pod.container.terminated is None else pod.container.terminated.exit_code
    if result is not None and result.ok and code not in _BY_EXIT_CODE:
        # A JVM that crashes during shutdown does not undo the commit that the result reports.
        return Success(result=result)
    if code in _BY_EXIT_CODE:
        return _reported(ExitCode(code), result, pod.container.terminated)
    if code == ExitCode.OK:
        return _without_success(result, why_none)
    return _killed(pod)


def classify_turn(pod: PodObserved, run: str) -> Success | AttemptFailure:
    """What the end of this shared Pod means for the run whose turn had begun and of which no result was reported.

    The driver leaves a result that it could not report. Its exit code says nothing about a single run. Raises
    ValueError if nothing is known about the end.
    """
    if not pod.end_known:
        raise ValueError(f"pod {pod.name} has not ended")
    result, _ = _result(pod.container.terminated, run)
    if result is not None:
        return _by_result(result)
    code = None if pod.container.terminated is None else pod.container.terminated.exit_code
    if code == ExitCode.OK or code in _BY_EXIT_CODE:
        return _infrastructure(Reason.RESULT_MISSING, f"the driver of pod {pod.name} ended without a result of it")
    failure = _killed(pod)
    if failure.failure_class is FailureClass.DEADLINE:  # the Pod's: that of a run is shorter and ends this run alone
        return _infrastructure(Reason.RESULT_MISSING, f"pod {pod.name} was stopped without a result of it")
    return failure


def ran_out_of_memory(pod: PodObserved) -> bool:
    """Whether the driver of this Pod has ended for sure because it had too little memory, and not by another kill."""
    ended = pod.container.terminated
    return ended is not None and (ended.reason == "OOMKilled" or ended.exit_code == JVM_OUT_OF_MEMORY)


def reported(text: str, run: str) -> Success | AttemptFailure:
    """What the result that a driver has reported of its turn means for the run named `run`."""
    result, why_none = _read(text, run)
    if result is None:
        return _infrastructure(Reason.RESULT_MISSING, f"the driver has ended its turn, but {why_none}")
    return _by_result(result)


def _by_result(result: Result) -> Success | AttemptFailure:
    if result.error is None:
        return Success(result=result)
    return _reported(result.error.class_.exit_code, result, None)


def lost(pod: str) -> AttemptFailure:
    """The failure for a Pod that is gone (404) before its result was read."""
    return _infrastructure(Reason.POD_LOST, f"pod {pod} disappeared before its result was read")


def abandoned(pod: str) -> AttemptFailure:
    """The failure for a Pod whose node never reported its end, after the kubelet's own deadline."""
    return _infrastructure(Reason.POD_LOST, f"the node of pod {pod} never reported how it ended")


def _result(terminated: Terminated | None, run: str) -> tuple[Result | None, str]:
    """The result and an empty text; or None and why there is none, as a clause."""
    if terminated is None or not terminated.message.strip():
        return None, "it left no result"
    return _read(terminated.message, run)


def _read(text: str, run: str) -> tuple[Result | None, str]:
    try:
        result = read_result(text)
    except ContractError as error:
        return None, f"its result cannot be read ({error})"
    if result.operation not in registry.OPERATIONS.types:
        return None, f"its result is of an operation that this release does not have, {result.operation[:40]!r}"
    if result.run != run:
        return None, f"its result is that of another run, {result.run}"
    return result, ""


def _reported(code: ExitCode, result: Result | None, terminated: Terminated | None) -> AttemptFailure:
    """A failure with an exit code of the contract. The code gives the class, the result the reason and message."""
    failure_class, reason = _BY_EXIT_CODE[code]
    if result is not None and result.error is not None:
        field = _field(result.error.field)
        where = f"{field}: " if field and failure_class is FailureClass.SPEC else ""
        return AttemptFailure(
            failure_class=failure_class,
            reason=known_reason(result.error.reason, reason),
            message=where + _sentences(result.error.message, result.error.remedy),
            field=field,
            result=result,
        )
    tail = _tail(terminated)
    return AttemptFailure(
        failure_class=failure_class, reason=reason, message=f"the driver ended with exit code {code}{tail}"
    )


def _field(reported: str | None) -> str | None:
    """The field of the manifest. The driver reports options of Paimon, and some come from fields of their own."""
    option = _FREE_OPTION.fullmatch(reported or "")
    return field_of_option(option[1]) if option else reported


def _without_success(result: Result | None, why_none: str) -> AttemptFailure:
    """The failure for exit code 0 without a successful result."""
    if result is None or result.error is None:
        return _infrastructure(Reason.RESULT_MISSING, f"the driver ended with exit code 0, but {why_none}")
    # Our driver never does this. The result is then more cautious than the exit code.
    return _reported(result.error.class_.exit_code, result, None)


def _evicted(why: str) -> AttemptFailure:
    if why.startswith(_SCRATCH_IS_FULL):
        return _infrastructure(Reason.DISK_FULL, f"the pod was evicted, raise spark.driver.scratch: {why}")
    return _infrastructure(Reason.EVICTED, f"the pod was evicted from its node: {why}")


def _killed(pod: PodObserved) -> AttemptFailure:
    """The failure for a container that was stopped, or that ended with an exit code outside the contract."""
    if pod.reason == "DeadlineExceeded":
        message = "the pod was stopped at its activeDeadlineSeconds"
        return AttemptFailure(failure_class=FailureClass.DEADLINE, reason=Reason.DEADLINE_EXCEEDED, message=message)
    if pod.reason == "Evicted" or pod.disruption is not None:
        return _evicted(pod.message or pod.disruption or "no reason given")
    ended = pod.container.terminated
    if ended is None or ended.reason == "ContainerStatusUnknown":
        otherwise = "it was deleted before it was bound to a node" if pod.node is None else "its node reports no cause"
        why = " ".join(part for part in (pod.reason, pod.message) if part) or otherwise
        return _infrastructure(Reason.POD_LOST, f"the pod failed and its container reported nothing: {why}")
    if pod.deleting:
        return _infrastructure(Reason.POD_LOST, f"the pod was deleted while it ran (exit code {ended.exit_code})")
    if ended.reason == "OOMKilled" or ended.exit_code in (SIGKILLED, JVM_OUT_OF_MEMORY):
        what = ended.reason if ended.reason == "OOMKilled" else f"exit code {ended.exit_code}"
        message = f"the driver ran out of memory ({what})"
        return AttemptFailure(failure_class=FailureClass.OUT_OF_MEMORY, reason=Reason.OUT_OF_MEMORY, message=message)
    reason, what = Reason.DRIVER_FAILED, f"the driver ended with exit code {ended.exit_code}"
    if ended.exit_code == TOO_MANY_EXECUTORS_FAILED:
        reason, what = Reason.NO_EXECUTORS, "too many executors failed"
    return _infrastructure(reason, what + _tail(ended))


def _infrastructure(reason: Reason, message: str) -> AttemptFailure:
    return AttemptFailure(failure_class=FailureClass.INFRASTRUCTURE, reason=reason, message=message)


def _sentences(message: str, remedy: str) -> str:
    return f"{message.rstrip('. ')}. {remedy[:1].upper()}{remedy[1:]}" if remedy else message


def _tail(terminated: Terminated | None) -> str:
    """The end of the log (FallbackToLogsOnError), as the end of a sentence; empty without a log."""
    said = [] if terminated is None else [_said(line) for line in terminated.message.splitlines()]
    lines = [printable(line).strip() for line in said]
    text = " | ".join([line for line in lines if line][-3:])
    if not text:
        return ""
    return f"; its log ends: {text if len(text) <= TAIL_LENGTH else '…' + text[-TAIL_LENGTH:]}"


def _said(line: str) -> str:
    """The message of a line that is JSON, as drivers of this release write them; any other line as it is."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):  # a driver that was taken over can nest it deeply
        return line
    message = record.get("message") if isinstance(record, dict) else None
    return message if isinstance(message, str) else line
