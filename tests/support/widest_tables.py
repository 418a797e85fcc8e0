"""The widest valid tables: every list has its maximum length. The texts are shorter, because a spec has 256 KiB."""

from __future__ import annotations

from typing import Any

from paimon_operator.api.table.options import FILE_INDEXES
from tests.support.manifests import Manifest, keyed_table

COLUMNS = 500
_CRON = ",".join(str(minute) for minute in range(34)) + " * * * *"


def _name(number: int) -> str:
    return f"c{number:0>59}"


_INDEXED = ",".join(_name(n) for n in range(16))
_OPTIONS = {f"option.{n:0>53}": "v" * 4 for n in range(96)} | {
    f"file-index.{index}.columns": _INDEXED for index in FILE_INDEXES
}


def _column(number: int, **more: object) -> dict[str, Any]:
    return {"name": _name(number), "type": f"DECIMAL(12,{number % 12})", "comment": "x" * 2} | more


def _writes() -> list[dict[str, Any]]:
    source = {"location": "l" * 40, "path": "p" * 64, "format": "parquet", "select": "New"}
    return [
        {
            "name": f"w{number:0>39}",
            "from": {"files": source},
            "mode": "Upsert",
            "trigger": {"type": "Schedule", "schedule": _CRON},
            "options": {f"option.{n:0>20}": "v" for n in range(100)},
        }
        for number in range(16)
    ]


def _table(columns: list[dict[str, Any]], **edits: object) -> Manifest:
    keys = [_name(n) for n in range(16)]
    return keyed_table(
        metadata__name="t" * 48,
        spec__catalogRef__name="c" * 48,
        spec__database="d" * 128,
        spec__table="t" * 128,
        spec__schema={"comment": "x" * 1024, "columns": columns, "primaryKeys": keys, "partitionKeys": keys[:8]},
        spec__bucket={"type": "Fixed", "fixed": {"count": 65536, "keys": keys[8:]}},
        spec__options=_OPTIONS,
        spec__writes=_writes(),
        **edits,
    )


def aggregating() -> Manifest:
    """A table with an aggregate on every column that allows one, and eight sequence fields."""
    aggregate = {"function": "listagg", "delimiter": "d" * 16, "distinct": True, "ignoreRetract": True}
    plain, sequence = range(16), range(16, 24)
    columns = [_column(n) for n in (*plain, *sequence)] + [_column(n, aggregate=aggregate) for n in range(24, COLUMNS)]
    return _table(
        columns,
        spec__mergeEngine={"type": "Aggregation", "ignoreDelete": True},
        spec__sequence={"fields": [_name(n) for n in sequence], "sortOrder": "Descending"},
    )


def grouped() -> Manifest:
    """A table with twelve sequence groups of 128 columns, each with eight sequence fields."""
    last = [_name(n) for n in range(COLUMNS - 136, COLUMNS)]
    group = {"sequenceFields": last[:8], "columns": last[8:]}
    groups = {"sequenceGroups": [group] * 12, "removeRecordOnSequenceGroup": [last[7]] * 12}
    return _table(
        [_column(n) for n in range(COLUMNS)],
        spec__mergeEngine={"type": "PartialUpdate", "partialUpdate": groups, "rowKindField": last[-1]},
    )


def defaulting() -> Manifest:
    """A table with a default value on every column that allows one, and with row kinds."""
    plain = [_column(n) for n in (*range(16), COLUMNS - 1)]
    columns = plain[:-1] + [_column(n, defaultValue="1" * 8) for n in range(16, COLUMNS - 1)] + plain[-1:]
    return _table(
        columns,
        spec__mergeEngine={"type": "Deduplicate", "rowKindField": _name(COLUMNS - 1)},
        spec__deletionVectors={"enabled": True},
        spec__changelogProducer={"type": "Lookup", "lookup": {"cacheMaxMemorySize": "512Mi"}},
        spec__compaction={"mode": "Dedicated"},
    )
