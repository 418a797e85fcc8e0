"""What a table's options say about its metadata and its files."""

from __future__ import annotations

from typing import Final

from paimon_engines.values import size_in_bytes
from paimon_schema.bucket_count import BUCKET
from paimon_schema.table_schema import TableSchema
from spark_apps.metadata.base import UnreadableError

FIXED: Final = "Fixed"
UNAWARE: Final = "Unaware"
"""No buckets: Paimon writes all files of a partition as those of bucket 0."""
DONE_MARK: Final = "_SUCCESS"
"""File in the directory of a partition that is done: batch jobs wait for it. Runs of MarkPartitionsDone and Flink write
it."""
IN_METASTORE: Final = "metastore.partitioned-table"
"""Option by which a metastore has the partitions too."""
SMALL_FILE_SHARE: Final = 0.7
"""A file below this share of target-file-size counts as small, as in Paimon's append compaction."""
_TARGET_WITH_KEYS: Final = 128 << 20
_TARGET_WITHOUT_KEYS: Final = 256 << 20
"""Paimon's defaults of target-file-size, with a primary key and without."""
_CHOSEN_BY_ENGINE: Final = "-1"
_POSTPONED: Final = "-2"


def require_avro(schema: TableSchema) -> None:
    """Raises UnreadableError for a table whose manifests are of another format."""
    form = schema.options.get("manifest.format", "avro")
    if form.strip().lower() != "avro":
        raise UnreadableError(f"the format of its manifests is {form!r}")


def small_below(schema: TableSchema) -> int:
    """Bytes below which a file of the table is small. Raises UnreadableError where the option cannot be read."""
    text = schema.options.get("target-file-size")
    target = (_TARGET_WITH_KEYS if schema.primary_keys else _TARGET_WITHOUT_KEYS) if text is None else _size(text)
    return int(target * SMALL_FILE_SHARE)


def bucket_mode(schema: TableSchema) -> str:
    """The word of spec.bucket.type."""
    count = schema.options.get(BUCKET, _CHOSEN_BY_ENGINE)
    if count == _POSTPONED:
        return "Postpone"
    if count != _CHOSEN_BY_ENGINE:
        return FIXED
    return "Dynamic" if schema.primary_keys else UNAWARE


def default_partition_name(schema: TableSchema) -> str:
    """What stands for a partition key without a value."""
    return schema.options.get("partition.default-name", "__DEFAULT_PARTITION__")


def _size(text: str) -> int:
    size = size_in_bytes(text)
    if size is None:
        raise UnreadableError(f"target-file-size {text!r} is no size")
    return size
