"""What a walk over the schema cannot know: names, types and texts that mean something, and how often a field is set."""

from __future__ import annotations

from typing import Final

from paimon_engines.bounds import ValueKind
from paimon_engines.loader import load_engines
from paimon_operator.api.table.options import EXPLAINED_OPTIONS, OPTION_FIELDS, allowed_in_table, may_be_proposed
from paimon_operator.core.validation.merging import type_root
from paimon_schema.type_parser import parse

PLAIN: Final = (
    "INT", "BIGINT", "STRING", "DATE", "DECIMAL(12,2)", "TIMESTAMP(6)", "VARCHAR(20)", "SMALLINT", "TINYINT", "BOOLEAN",
    "FLOAT", "DOUBLE", "CHAR(3)", "BINARY(3)", "VARBINARY(5)", "BYTES", "TIMESTAMP(3)", "TIMESTAMP_LTZ(6)",
)  # fmt: skip
NESTED: Final = (
    "ARRAY<INT>", "MAP<STRING, INT>", "ROW<a INT, b STRING>", "ARRAY<ROW<sku STRING, n INT>>",
    "MAP<STRING, ROW<a INT>>", "ARRAY<ARRAY<STRING>>",
)  # fmt: skip
WRONG_TYPES: Final = (
    "TIMESTAMP", "TIMESTAMP(9)", "DECIMAL(50,2)", "DECIMAL(5,9)", "NUMBER", "CHAR(0)", "VARCHAR(0)", "ARRAY<TIME>",
    "ARRAY", "ROW<a INT, a INT>", "MAP<STRING>", "ROW<a TIMESTAMP>", "INT NULL",
)  # fmt: skip
NAMES: Final = ("v", "w", "x", "y", "z", "path", "select", "order", "Name", "_h", "c__1", "rowkind", "_KEY_id", "V")
"""Names of columns: common ones first; the last three are Paimon's own, or differ from another in case alone."""
DEFAULTS: Final = ("0", "7", "-128", "300", "1.25", "1.555", "true", "abc", "'new'", "2026-01-31", "")
DEFAULT_OF: Final = {
    "STRING": "abc", "VARCHAR(20)": "new", "CHAR(3)": "abc", "BOOLEAN": "true", "DATE": "2026-01-31",
    "DECIMAL(12,2)": "1.25", "DOUBLE": "1.5", "TIMESTAMP(6)": "2026-01-31 12:00:00.123456",
}  # fmt: skip
"""Type -> a value of it; 7 of all others."""
TEXTS: Final[dict[str, tuple[str, ...]]] = {
    "spec.schema.comment": ("a table", 'it\'s \u00e4 "table"'),
    "spec.schema.columns[].comment": ("a column", "it's"),
    "spec.schema.columns[].defaultValue": DEFAULTS,
    "spec.schema.columns[].aggregate.delimiter": (";", ", ", "|"),
    "spec.schema.columns[].aggregate.nestedKey[]": ("sku", "n", "nope"),
    "spec.schema.partitionDefaultName": ("none", "__NULL__", "x.1-a", "../x"),
    "spec.timeZone": ("Europe/Berlin", "Europe/Atlantis"),
}
"""Path -> texts that are tried there."""
DURATIONS: Final = ("90s", "2h", "10d", "99999d", "1w")
SIZES: Final = ("64Mi", "1Gi", "2Gi", "200000Gi")
CRONS: Final = ("0 3 * * *", "*/15 * * * *", "0 0 31 2 *")

_BY_KIND: Final = {
    ValueKind.BOOLEAN: ("true", "false", "TRUE", "yes"),
    ValueKind.INTEGER: ("1", "2", "3", "5", "10", "0", "-1", "abc"),
    ValueKind.LONG: ("1", "5", "1000", "0"),
    ValueKind.FLOAT: ("0.5", "0.75", "1.5"),
    ValueKind.DOUBLE: ("0.1", "0.5", "0.9", "0", "1.5"),
    ValueKind.DURATION: ("1 s", "10 min", "1 h", "0 s", "soon"),
    ValueKind.SIZE: ("64 kb", "1 mb", "192 kb", "128 mb", "1 kb", "0 b", "much"),
}
_WORDS: Final = {
    "format": ("parquet", "orc", "avro", "csv"),
    "compression": ("zstd", "lz4", "snappy", "none", "gzip"),
    "stats-mode": ("full", "none", "counts", "truncate(8)", "all"),
    "file.format.per.level": ("0:avro,5:parquet", "0:orc", "0:csv"),
    "file.compression.per.level": ("0:lz4", "0:zstd,5:none", "0:fast"),
    "metadata.stats-mode.per.level": ("0:none,5:full", "0:counts"),
    "upsert-key": ("id",),
}
"""Option, or the end of its key -> values."""
_OF_COLUMNS: Final = {
    "file-index.bloom-filter.columns": ("id", "v", "nope"),
    "file-index.bitmap.columns": ("id", "v", "nope"),
    "file-index.bsi.columns": ("id", "v"),
    "file-index.range-bitmap.columns": ("id", "v"),
    "fields.v.stats-mode": ("counts", "none", "some"),
    "orc.stripe.size": ("65536",), "parquet.page.size": ("4096", "0"), "parquet.bloom.filter.enabled": ("true",),
}  # fmt: skip
_REFUSED: Final = {
    **dict.fromkeys((*OPTION_FIELDS, *EXPLAINED_OPTIONS), ("1",)),
    "fields.v.aggregate-function": ("sum",), "tag.automatic-creation": ("batch",), "no-such-option": ("x",),
    "scan.snapshot-id": ("1",), "consumer-id": ("a",), "snapshot.expire.limit": ("5",),
}  # fmt: skip


def _options() -> dict[str, tuple[str, ...]]:
    """Options that some engine has and a manifest may set."""
    known = {key: option for engine in load_engines().values() for key, option in engine.options.items()}
    allowed = [o for k, o in known.items() if k == o.key and allowed_in_table(k) and may_be_proposed(k)]
    return {o.key: _values(o.key, o.kind, o.values) for o in sorted(allowed, key=lambda o: o.key)}


def _values(key: str, kind: ValueKind, values: tuple[str, ...]) -> tuple[str, ...]:
    if kind is ValueKind.ENUM:
        return (*values, "other")
    if kind is ValueKind.TEXT:
        return next(words for end, words in _WORDS.items() if key == end or key.endswith(end))
    return _BY_KIND[kind]


OPTIONS: Final = {**_options(), **_OF_COLUMNS}
"""Option that a manifest may set -> values, of which some are wrong."""
REFUSED_OPTIONS: Final = _REFUSED


def merges(function: str, type_: str) -> bool:
    """Whether some engine merges values of the type by the function."""
    data_type = parse(type_) if type_ not in WRONG_TYPES else None
    taken = (engine.aggregate_functions.get(function, frozenset()) for engine in load_engines().values())
    return data_type is not None and any(type_root(data_type) in types for types in taken)


RARE: Final = 0.02
CHANCES: Final = {
    "spec.schema.comment": 0.1,
    "spec.schema.columns[].comment": 0.05,
    "spec.schema.columns[].defaultValue": 0.04,
    "spec.schema.partitionDefaultName": 0.08,
    "spec.bucket": 0.55,
    "spec.bucket.fixed.keys": 0.3,
    "spec.mergeEngine": 0.6,
    "spec.mergeEngine.ignoreDelete": 0.15,
    "spec.mergeEngine.ignoreUpdateBefore": 0.06,
    "spec.mergeEngine.rowKindField": 0.12,
    "spec.sequence": 0.15,
    "spec.changelogProducer": 0.35,
    "spec.deletionVectors": 0.15,
    "spec.compaction": 0.15,
    "spec.compaction.partitionIdleTime": 0.25,
    "spec.compaction.minor": 0.2,
    "spec.compaction.full": 0.2,
    "spec.mergeEngine.partialUpdate.removeRecordOnDelete": 0.15,
    "spec.mergeEngine.partialUpdate.removeRecordOnSequenceGroup": 0.1,
    "spec.schema.columns[].aggregate.ignoreRetract": 0.3,
    "spec.retention": 0.05,
    "spec.options": 0.45,
    "spec.timeZone": RARE,
    "spec.spark": RARE,
    "spec.runPolicy": RARE,
    "spec.externalWriters": RARE,
}
"""Path of an optional field -> how often it is set; half of the others are."""
USUAL_CHANCE: Final = 0.5
NEVER: Final = (
    "spec.catalogRef", "spec.database", "spec.table", "spec.writes", "spec.schema.droppedColumns",
    "spec.compaction.minor.when", "spec.compaction.full.when",
    "spec.schema.columns[].renamedFrom", "spec.adoptionPolicy", "spec.deletionPolicy", "spec.suspend", "spec.tags",
    "spec.maintenance", "spec.markPartitionsDone",
    *(f"spec.retention.{each}" for each in ("changelogs", "consumers", "partitions", "records", "orphanFiles")),
)  # fmt: skip
"""Fields of which the created table has nothing: other tests have them."""
