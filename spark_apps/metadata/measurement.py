"""A measurement of a table from its schema and the files of a snapshot, as a result has it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from paimon_contract.result import ResultTable
from paimon_schema.bucket_count import BUCKET, RESCALE_OPTION
from paimon_schema.table_schema import TableSchema
from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.health import measures_of
from spark_apps.metadata.observation import MALFORMED, Contents
from spark_apps.metadata.settings import FIXED, bucket_mode


def of_contents(contents: Contents | None, schema: TableSchema, measured_at: str | None = None) -> ResultTable:
    """The measurement of files that were read at this time (now), without what tags, branches and consumers keep."""
    try:
        return replace(of_schema(schema), measured_at=measured_at or now_text(), **measures_of(contents, schema))
    except MALFORMED as error:
        raise UnreadableError(f"its metadata is malformed: {type(error).__name__}: {error}") from error


def of_schema(schema: TableSchema) -> ResultTable:
    """What the schema alone says."""
    mode = bucket_mode(schema)
    return ResultTable(
        schema_id=schema.id,
        schema_digest=schema.digest,
        bucket_mode=mode,
        bucket_count=int(schema.options[BUCKET]) if mode == FIXED else None,
        rescaling=True if RESCALE_OPTION in schema.options else None,
    )


def now_text() -> str:
    """The time now, in whole seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
