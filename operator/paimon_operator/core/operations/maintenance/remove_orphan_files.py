"""Orphan files: reports of them, and their removal, on the schedule of retention.orphanFiles."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import Field

from paimon_contract.parameters.remove_orphan_files import USUAL_PERCENT, RemoveOrphanFilesParameters
from paimon_contract.result import OrphanFiles, Result
from paimon_operator.api import units
from paimon_operator.api.base import ApiModel, Json
from paimon_operator.api.policies import ExternalWriters
from paimon_operator.api.reasons import Reason
from paimon_operator.api.retention import DEFAULT_ORPHAN_AGE, OrphanFilesMode
from paimon_operator.api.run.result import orphan_files
from paimon_operator.api.run.spec import PaimonRun, member_of
from paimon_operator.api.run.status import RunStatus, RunTrigger
from paimon_operator.api.table.effective import EffectiveOrphanFiles, EffectiveRetention
from paimon_operator.api.table.schedule_state import Check
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import OrphanFilesState, TableStatus
from paimon_operator.api.units import readable_size
from paimon_operator.core.operations.base import DueRun, RunOutcome
from paimon_operator.core.operations.maintenance.block_schedule import BlockSchedule
from paimon_operator.core.operations.need import UNKNOWN, Need, age_check, unknown_with
from paimon_operator.core.operations.operation import OperationSpec, RunMember
from paimon_operator.core.spec.context import ORPHAN_FILES, TableContext
from paimon_operator.errors import SpecError

_RUN_MODE: Final = "spec.removeOrphanFiles.mode"


class OrphanFilesRunMode(StrEnum):
    """What a run does about orphan files."""

    REPORT = "Report"
    DELETE = "Delete"
    RESTORE = "Restore"


class RemoveOrphanFilesRun(ApiModel):
    """Settings of a search for orphan files."""

    mode: OrphanFilesRunMode | None = None
    """Report: lists orphan files. Delete: also moves away what two reports name; the table's mode must be Delete.
    Restore: moves back everything that was moved away and is not removed for good. Absent: the table's mode."""
    max_percent: Annotated[int, Field(ge=1, le=100, json_schema_extra={"format": "int32"})] | None = None
    """Delete is refused if orphan files are this percentage of all files or more. Absent: 20."""


def job(context: TableContext, run: PaimonRun) -> RemoveOrphanFilesParameters:
    """The effective block, or what the run asks for. Raises SpecError where nothing may be removed."""
    asked = member_of(run.spec, MEMBER.field, RemoveOrphanFilesRun) or RemoveOrphanFilesRun()
    block = _block_of(context)
    of_table = (block.mode if block else None) or OrphanFilesMode.REPORT
    mode = (asked.mode or of_table).value
    if mode != OrphanFilesRunMode.RESTORE and (error := context.stops_schedule(ORPHAN_FILES)) is not None:
        raise error
    if mode == OrphanFilesRunMode.DELETE:
        _require_removal(context, block)
    age = (block.older_than if block else None) or DEFAULT_ORPHAN_AGE
    return RemoveOrphanFilesParameters(
        mode=mode,
        older_than_seconds=units.seconds(age, field=f"{ORPHAN_FILES}.olderThan"),
        max_percent=asked.max_percent or USUAL_PERCENT,
    )


def _block_of(context: TableContext) -> EffectiveOrphanFiles | None:
    retention = context.effective.retention
    return None if retention is None else retention.orphan_files


def _require_removal(context: TableContext, block: EffectiveOrphanFiles | None) -> None:
    """Raises SpecError unless the table permits it and nobody else may commit."""
    if block is None or block.mode is not OrphanFilesMode.DELETE:
        raise SpecError(
            _RUN_MODE,
            "the table only reports orphan files",
            f"Set {ORPHAN_FILES}.mode to Delete first, or use mode Report.",
        )
    if context.spec.external_writers is ExternalWriters.ACTIVE:
        raise SpecError("spec.externalWriters", "others write to the table", "Stop them, and set it to Paused.")
    record = context.table.status.outside_writers
    if record is not None and record.commit is not None and record.stated is context.spec.external_writers:
        raise SpecError(
            "spec.externalWriters",
            f"snapshot {record.commit.snapshot_id} was made by somebody else, whose files may be old and uncommitted",
            "Stop that writer, then set externalWriters to Paused (to None if it is Paused).",
            reason=Reason.OUTSIDE_COMMIT,
        )


def need(context: TableContext, status: TableStatus, work: DueRun) -> Need:  # noqa: ARG001
    """Each tick starts a run: only a listing finds orphans. The numbers of the last report show what it may do."""
    state, block = status.orphan_files, _block_of(context)
    if state is None or block is None or state.last_time is None or state.files is None:
        return UNKNOWN
    age = age_check(context, "olderThan", state.last_time, block.older_than or DEFAULT_ORPHAN_AGE)
    found = Check(name="orphanFiles", measured=str(state.files), threshold="1", reached=state.files > 0)
    return unknown_with([*age, found], state.last_time)


def status_fields(result: Result) -> Mapping[str, Any]:
    """What was found, and what was done."""
    return {"orphan_files": orphan_files(result)}


def summary(result: Result) -> str:
    """What was found, and what was done."""
    found = result.orphan_files
    if found is None:
        return "nothing was reported"
    if found.restored is not None:
        return f"{found.restored} files were moved back"
    said = f"{found.orphans or 0} of {found.files or 0} files are orphans ({readable_size(found.orphan_bytes or 0)})"
    if found.unknown:
        said += f"; {found.unknown} are none of Paimon's and stay"
    return said + _removed(found)


def _removed(found: OrphanFiles) -> str:
    """The part about their removal; empty in mode Report."""
    if found.moved is None:
        return ""
    if found.compared_with is None:
        return "; nothing was moved away, because no earlier report is old enough"
    gone = f", {found.removed} removed for good" if found.removed else ""
    return f"; {found.moved} were moved away{gone}"


def record_result(status: TableStatus, ended: RunOutcome, key: str) -> TableStatus:
    """The status after a run, with the numbers of its report: also after one that refused to remove so many."""
    after = status if _does_less(status, ended) else _SCHEDULE.record_result(status, ended, key)
    is_recorded = ended.succeeded or ended.active.trigger is not RunTrigger.USER
    return _with_numbers(after, ended.result) if is_recorded else after


def _does_less(status: TableStatus, ended: RunOutcome) -> bool:
    """Whether a user's run has not done what the schedule is for: its success does not end a failure of the latter."""
    found, retention = ended.result.orphan_files, status.effective.retention if status.effective else None
    if ended.active.trigger is not RunTrigger.USER or found is None:
        return False
    block = retention.orphan_files if retention else None
    removes = block is not None and block.mode is OrphanFilesMode.DELETE
    return found.restored is not None or (removes and found.moved is None)


def _with_numbers(status: TableStatus, result: RunStatus) -> TableStatus:
    state, found = status.orphan_files, result.orphan_files
    if state is None or found is None:
        return status
    if found.restored is not None:
        numbers: dict[str, Any] = {"kept": 0, "kept_bytes": 0}
    else:
        numbers = {"files": found.orphans, "bytes": found.orphan_bytes, "unknown": found.unknown}
        numbers |= {"report": found.report, "kept": found.kept, "kept_bytes": found.kept_bytes}
    return status.model_copy(update={"orphan_files": state.model_copy(update=numbers)})


def on_spec_change(status: TableStatus, table: PaimonTable, now: datetime) -> TableStatus:
    """After any edit, a search that a foreign commit has ended is tried again at once: the edit may answer it."""
    state = status.orphan_files
    failure = None if state is None else state.failure
    if state is None or failure is None or failure.reason != Reason.OUTSIDE_COMMIT:
        return status
    if table.metadata.generation == status.observed_generation:
        return status
    again = failure.model_copy(update={"next_try": now})
    return status.model_copy(update={"orphan_files": state.model_copy(update={"failure": again})})


def _as_in_the_manifest(subject: str) -> Json:  # noqa: ARG001
    return {}


_FOR_A_HUMAN: Final = frozenset({Reason.TOO_MANY_ORPHAN_FILES, Reason.ORPHAN_REFERENCED, Reason.OUTSIDE_COMMIT})
_SCHEDULE: Final = BlockSchedule(
    type="RemoveOrphanFiles",
    path=ORPHAN_FILES,
    effective=lambda settings: (settings.retention or EffectiveRetention()).orphan_files,
    memory="orphan_files",
    empty=OrphanFilesState(),
    for_a_human=_FOR_A_HUMAN,
)
MEMBER: Final = RunMember(field="removeOrphanFiles", model=RemoveOrphanFilesRun, of_subject=_as_in_the_manifest)
OPERATION: Final = OperationSpec(
    type=_SCHEDULE.type,
    order=44,
    scheduled=_SCHEDULE,
    on_demand=_SCHEDULE,
    member=MEMBER,
    job=job,
    summary=summary,
    status_fields=status_fields,
    memory="orphanFiles",
    record_result=record_result,
    on_spec_change=on_spec_change,
    is_still_asked_for=_SCHEDULE.is_still_asked_for,
    for_a_human=_FOR_A_HUMAN,
    need=need,
    in_windows=True,
    may_end_without_jvm=True,
)
