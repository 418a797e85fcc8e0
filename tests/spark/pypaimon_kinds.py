"""Kinds of tables that pypaimon makes, alone or together with Spark. It shares no code with Spark or the operator.

A step for pypaimon is PYPAIMON and a request of `pypaimon_tables.perform` as JSON, beside those of observed_kinds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from tests.spark.lake import Lake
from tests.spark.observed_kinds import COMPACT, DYNAMIC, EXPIRE, LATER, OLDEST_DAY, PIN, SECOND, Kind
from tests.support import pypaimon_tables

PYPAIMON: Final = "pypaimon: "
_TABLE: Final = "shop.orders"
_TEXT: Final = {"day": "STRING", "id": "BIGINT", "v": "STRING"}
_NUMBER: Final = {"day": "STRING NOT NULL", "id": "BIGINT NOT NULL", "v": "BIGINT"}
_KEYED: Final = {"bucket": "2", "write-only": "true", "target-file-size": "3 kb"}
Row = dict[str, Any]


def perform_step(lake: Lake, step: str) -> None:
    """Performs a step of a kind, by Spark or by pypaimon."""
    if step.startswith(PYPAIMON):
        pypaimon_tables.perform(lake.warehouse, "shop", **json.loads(step.removeprefix(PYPAIMON)))
    else:
        lake.outside(step.replace("{t}", "outside.shop.orders").replace("{name}", "shop.orders"))


def _rows(number: int, value: str | int | None = None, day: str | None = None, **more: str) -> list[Row]:
    """As many rows; the same values as in the statements of observed_kinds."""
    days = ("mon", "tue")
    return [{"day": day or days[n % 2], "id": n, "v": n if value is None else value, **more} for n in range(number)]


def _step(**work: Any) -> str:
    return PYPAIMON + json.dumps(work)


def _written(rows: list[Row], *, as_text: bool = False, **more: Any) -> str:
    made = [{**each, "v": str(each["v"])} for each in rows] if as_text else rows
    return _step(written=[{"table": _TABLE, "rows": made, **more}])


def _created(columns: dict[str, str], keys: Iterable[str], partitions: Iterable[str], options: dict[str, str]) -> str:
    fields = [{"id": number, "name": name, "type": type_} for number, (name, type_) in enumerate(columns.items())]
    keys = {"primaryKeys": list(keys), "partitionKeys": list(partitions)}
    return _step(tables=[{"name": _TABLE, "fields": fields, **keys, "options": options, "comment": None, "rows": []}])


def _keyed(*steps: str, keys: tuple[str, ...] = ("day", "id"), **more: Any) -> Kind:
    options, columns = _KEYED | more.pop("options", {}), _NUMBER | more.pop("columns", {})
    by_day = "day" in keys
    create = _created(columns, keys, ["day"] if by_day else [], options)
    performed = steps or (_FIRST, _SECOND, _LATER)
    return Kind((create, *performed), _oldest(performed) if by_day else None, **more)


def _plain(*, by_day: bool = False, options: dict[str, str] | None = None) -> Kind:
    create = _created(_TEXT, [], ["day"] if by_day else [], options or {})
    return Kind((create, *_AS_TEXT), OLDEST_DAY if by_day else None)


def _oldest(steps: tuple[str, ...]) -> str:
    return OLDEST_DAY if {_LATER, LATER} & {*steps} else "day=mon"


_FIRST: Final = _written(_rows(200))
_SECOND: Final = _written(_rows(50, 7))
_LATER: Final = _written(_rows(30, 8, "a day that is longer"))
_AS_TEXT: Final = tuple(_written(rows, as_text=True) for rows in (_rows(200), _rows(50), _rows(30, 8, OLDEST_DAY[4:])))
_REPLACED: Final = _written(_rows(3, 1, "mon"), overwritten={"day": "mon"})
_TAG: Final = _step(tagged=[[_TABLE, "one"]])
_BRANCH: Final = _step(branched=[[_TABLE, "b", "one"]])
_ADDED: Final = _written(_rows(40, 1, kind="+I"))
_DELETED: Final = _written(_rows(20, 1, kind="-D"))

BY_PYPAIMON: Final[dict[str, Kind]] = {
    "pypaimon: append": _plain(),
    "pypaimon: append, partitioned": _plain(by_day=True),
    "pypaimon: append, fixed buckets": _plain(options={"bucket": "3", "bucket-key": "id"}),
    "pypaimon: deduplicate": _keyed(keys=("id",)),
    "pypaimon: partitioned": _keyed(),
    "pypaimon: dynamic buckets": _keyed(options=DYNAMIC),
    # pypaimon 2.1.0 writes into its manifests that no row of a file deletes another one.
    "pypaimon: deleted rows": _keyed(
        _ADDED, _DELETED, columns={"kind": "STRING"}, options={"rowkind.field": "kind"}, deleted=0
    ),
    "pypaimon: tag and branch": _keyed(_FIRST, PIN, _TAG, _SECOND, PIN, _BRANCH, _LATER),
    "pypaimon: overwritten": _keyed(_FIRST, _SECOND, _REPLACED),
    # pypaimon 2.1.0 cannot write to a table with manifests of Paimon 0.9, so Spark comes last. Nor can it list its
    # own file after a compaction of 0.9 has moved it to another level as it is, so each bucket has two files before.
    "pypaimon and Spark": _keyed(_FIRST, SECOND, COMPACT, PIN, _TAG, SECOND, COMPACT, LATER),
    "pypaimon, expired by Spark": _keyed(_FIRST, _SECOND, COMPACT, EXPIRE, SECOND, LATER),
}
