"""The driver's result, read from a termination message and checked against the bounds of a run's status."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from paimon_contract.documents import VERSION
from paimon_contract.result import Result, ResultTable
from paimon_operator.api.base import ReasonText, printable, truncated
from paimon_operator.api.drift import DriftFound
from paimon_operator.api.edit_plan import EditPlan
from paimon_operator.api.measure import Measure
from paimon_operator.api.run.status import (
    CommitIdentity,
    LoadedWrites,
    OrphanFilesResult,
    OutsideCommit,
    PartitionExpiryResult,
    PartitionsDoneResult,
    RescaleResult,
    RunStatus,
    VerificationResult,
    WriteResult,
)
from paimon_operator.errors import ContractError

MAX_INT64: Final = 2**63 - 1
_RESULT: Final = TypeAdapter(Result)
_REASON: Final = TypeAdapter(ReasonText)
_LOADED: Final[TypeAdapter[LoadedWrites]] = TypeAdapter(LoadedWrites)
_IDENTITY: Final[TypeAdapter[str]] = TypeAdapter(CommitIdentity)


def read_result(text: str) -> Result:
    """The result in a termination message. Unknown keys are ignored: a newer image may report more.

    The text comes from a Pod that runs code on users' data, so it is not trusted: what a terminal would interpret is
    removed from it, and a number that no status can hold is refused.

    Raises ContractError when the text is none: a log's tail, a document cut short, or values that no status can hold.
    """
    try:
        # strict: a text or a fraction in place of a number would pass the bound of numbers
        result = _RESULT.validate_json(json.dumps(harmless(from_json(text))), strict=True)
        _check_values(result)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise _no_result(f"{where or 'document'}: {first['msg']}") from error
    except ValueError as error:
        raise _no_result(str(error)) from error
    return result


def harmless(value: Any) -> Any:
    """JSON values of others with printable texts. Raises ValueError for a number beyond 64 bits."""
    if isinstance(value, dict):
        return {key: harmless(each) for key, each in value.items()}
    if isinstance(value, list):
        return [harmless(each) for each in value]
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, int) and not -MAX_INT64 <= value <= MAX_INT64:
        raise ValueError(f"a number of {len(str(abs(value)))} digits")
    return value


def measure_before(result: Result) -> Measure | None:
    """The table before the run."""
    return None if result.before is None else Measure.model_validate(_given(result.before))


def measure_after(result: Result) -> Measure | None:
    """The table after the run: `table`, and over it `after` where it is given."""
    facts = {} if result.table is None else measure_facts(result.table)
    if result.after is not None:
        facts |= _given(result.after)
    return Measure.model_validate(facts) if facts else None


def measure_facts(table: ResultTable) -> dict[str, Any]:
    """The fields of a Measure in what was measured of a table. Their bounds are those of Measure."""
    facts = _given(table)
    if "size_bytes" in facts:
        facts["bytes"] = facts.pop("size_bytes")
    return facts


def write_result(result: Result) -> WriteResult | None:
    """What a write loaded."""
    return None if result.write is None else WriteResult.model_validate(_given(result.write))


def edit_plan(result: Result) -> EditPlan | None:
    """The plan that waits for approval."""
    return None if result.plan is None else EditPlan.model_validate(asdict(result.plan))


def drift_found(result: Result) -> DriftFound | None:
    """What somebody else has changed in the table."""
    return None if result.drift is None else DriftFound.model_validate(_given(result.drift))


def rescale_result(result: Result) -> RescaleResult | None:
    """The progress of a rescale."""
    return None if result.rescale is None else RescaleResult.model_validate(_given(result.rescale))


def verification_result(result: Result) -> VerificationResult | None:
    """The rows before and after the commits of the run. A text that is too long for a status is cut."""
    if result.verification is None:
        return None
    given = _given(result.verification)
    if "difference" in given:
        given["difference"]["found"] = truncated(given["difference"]["found"], 512)
    return VerificationResult.model_validate(given)


def partition_expiry(result: Result) -> PartitionExpiryResult | None:
    """The partitions that were dropped, and those that stay."""
    return None if result.partitions is None else PartitionExpiryResult.model_validate(_given(result.partitions))


def partitions_done(result: Result) -> PartitionsDoneResult | None:
    """The partitions that were marked as done, and the others."""
    found = result.partitions_done
    return None if found is None else PartitionsDoneResult.model_validate(_given(found))


def orphan_files(result: Result) -> OrphanFilesResult | None:
    """What was found of orphan files, and what was done about it."""
    return None if result.orphan_files is None else OrphanFilesResult.model_validate(_given(result.orphan_files))


def loaded_writes(result: Result) -> LoadedWrites:
    """The writes of type Once that a run has found as done."""
    return _LOADED.validate_python([_given(each) for each in result.loaded])


def outside_commit(result: Result) -> OutsideCommit | None:
    """The first foreign commit that the driver found."""
    return None if result.outside_commit is None else OutsideCommit.model_validate(_given(result.outside_commit))


def seen_commit(result: Result) -> str | None:
    """The identity of the latest snapshot when the driver started."""
    return None if result.seen_commit is None else _IDENTITY.validate_python(result.seen_commit)


def _check_values(result: Result) -> None:
    """Raises ValidationError for a value beyond the bounds of the CRD, ContractError for another version's document."""
    if result.version != VERSION:
        raise _no_result(f"version: {result.version}")
    if result.error is not None:
        _REASON.validate_python(result.error.reason)
    for part in (
        measure_before,
        measure_after,
        write_result,
        edit_plan,
        drift_found,
        rescale_result,
        partition_expiry,
        partitions_done,
        orphan_files,
        verification_result,
        loaded_writes,
        outside_commit,
        seen_commit,
    ):
        part(result)
    bounded = ("seen_snapshot", "expired", "described", "columns_digest")
    RunStatus.model_validate({name: getattr(result, name) for name in bounded})


def _given(part: Any) -> dict[str, Any]:
    return {name: value for name, value in asdict(part).items() if value is not None}


def _no_result(why: str) -> ContractError:
    return ContractError(f"not a result of version {VERSION}: {why}")
