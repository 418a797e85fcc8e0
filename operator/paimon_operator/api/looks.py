"""What an observer reports, read and checked against the bounds of a table's status.

It comes from a Pod of a tenant, so it is not trusted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from paimon_contract.documents import VERSION
from paimon_contract.looks import MAX_REASON, MAX_REPORTED, LookRequest, TableLook
from paimon_operator.api.measure import Measure
from paimon_operator.api.run.result import harmless, measure_facts
from paimon_operator.errors import ContractError

_REQUEST: Final = TypeAdapter(LookRequest)
_LONGEST_AGE_S: Final = 86_400


@dataclass(frozen=True, kw_only=True)
class TableFinding:
    """What was found of one table: a measurement, or why there is none."""

    measure: Measure | None = None
    unknown: str | None = None


@dataclass(frozen=True, kw_only=True)
class Findings:
    """A request. `age` is the time since its first look began."""

    age: timedelta
    tables: Mapping[str, TableFinding]
    """UID of a PaimonTable -> what was found."""
    same: Mapping[str, int | None]
    """UID of a PaimonTable in which nothing has changed -> its latest snapshot."""


def read_request(text: bytes) -> Findings:
    """The findings in a request. Unknown keys are ignored: a newer image may report more.

    A table whose values no status can hold is unknown: it says nothing of the others.
    Raises ContractError for anything but a request of this version within its bounds.
    """
    try:
        request = _REQUEST.validate_json(json.dumps(harmless(from_json(text))), strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ContractError(f"not a report of version {VERSION}: {where or 'document'}: {first['msg']}") from error
    except (ValueError, RecursionError) as error:
        raise ContractError(f"not a report of version {VERSION}: {error}") from error
    if request.version != VERSION:
        raise ContractError(f"not a report of version {VERSION}: version: {request.version}")
    if max(len(request.tables), len(request.same)) > MAX_REPORTED or not 0 <= request.age_seconds <= _LONGEST_AGE_S:
        raise ContractError(f"a report has at most {MAX_REPORTED} tables and an age of at most {_LONGEST_AGE_S} s")
    return Findings(
        age=timedelta(seconds=request.age_seconds),
        tables={each.uid: _finding(each) for each in request.tables},
        same={each.uid: each.snapshot_id for each in request.same},
    )


def _finding(look: TableLook) -> TableFinding:
    if look.table is None:
        return TableFinding(unknown=(look.unknown or "no reason was given")[:MAX_REASON])
    try:
        return TableFinding(measure=Measure.model_validate(measure_facts(look.table)))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        return TableFinding(unknown=f"what was reported cannot be: {where}: {first['msg']}"[:MAX_REASON])
