"""The settings of a manifest from the options of a table: `core/spec/paimon_options.py`, inverted.

Each part takes the options that its fields can hold, and leaves all others: the proof in `proof.py` compares what the
manifest makes of them with the table, so that nothing is lost here without a word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from paimon_operator.api.base import Json
from paimon_operator.api.catalog.spec import PaimonCatalog, TableDefaults
from paimon_operator.api.compaction import CompactionMode
from paimon_operator.api.table.spec import MergeEngineType
from paimon_operator.core.export import values
from paimon_operator.core.spec.effective import WRITE_ONLY_MODES
from paimon_operator.core.spec.paimon_options import (
    AUTOMATIC_BUCKETS,
    CHANGELOG_PRODUCERS,
    CLUSTERING,
    CLUSTERING_COLUMNS,
    CLUSTERING_ORDERS,
    CLUSTERING_STRATEGY,
    MERGE_ENGINES,
    POSTPONE_BUCKET,
    TRUE,
)
from paimon_operator.core.spec.retention_options import TAG_CREATIONS, TAG_PERIODS, retention_options, tag_options
from paimon_schema.uses import OF_FIELDS, SEQUENCE_GROUP

_FIELD_OF_ENGINE: Final = {text: type_.value for type_, text in MERGE_ENGINES.items()}
_FIELD_OF_PRODUCER: Final = {text: type_.value for type_, text in CHANGELOG_PRODUCERS.items()}
_FIELD_OF_CLUSTERING: Final = {text: order.value for order, text in CLUSTERING_ORDERS.items()}
SORT_SCHEDULE: Final = "0 3 * * *"
"""Schedule of sort in an exported manifest. The table does not say when it is sorted."""
_FIELD_OF_CREATION: Final = {text: creation.value for creation, text in TAG_CREATIONS.items()}
_FIELD_OF_PERIOD: Final = {text: period.value for period, text in TAG_PERIODS.items()}
_RETENTION: Final[dict[str, dict[str, tuple[str, Any]]]] = {
    "snapshots": {
        "snapshot.time-retained": ("timeRetained", values.duration),
        "snapshot.num-retained.min": ("numRetainedMin", values.number),
        "snapshot.num-retained.max": ("numRetainedMax", values.number),
    },
    "changelogs": {"changelog.time-retained": ("timeRetained", values.duration)},
    "consumers": {"consumer.expiration-time": ("expirationTime", values.duration)},
    "records": {
        "record-level.expire-time": ("expireTime", values.duration),
        "record-level.time-field": ("timeField", str),
    },
}
_TAGS: Final = {
    "tag.automatic-creation": ("automaticCreation", lambda text: _FIELD_OF_CREATION.get(text.strip().lower())),
    "tag.creation-period": ("creationPeriod", lambda text: _FIELD_OF_PERIOD.get(text.strip().lower())),
    "tag.creation-delay": ("creationDelay", values.duration),
    "tag.num-retained-max": ("numRetainedMax", values.number),
    "tag.default-time-retained": ("defaultTimeRetained", values.duration),
}
_LOOKUP: Final = {
    "lookup.cache-max-memory-size": ("cacheMaxMemorySize", values.size),
    "lookup.cache-max-disk-size": ("cacheMaxDiskSize", values.size),
    "lookup.cache-file-retention": ("cacheFileRetention", values.duration),
}


@dataclass(frozen=True)
class Remaining:
    """Options of a table, by their present names, that no field has taken yet."""

    options: dict[str, str]

    def word(self, key: str) -> str:
        """The value as Paimon compares words; empty without the option."""
        return self.options.get(key, "").strip().lower()

    def switch(self, key: str, field: str) -> Json:
        """`{field: True}` where the option is true, which is taken."""
        if self.word(key) != TRUE:
            return {}
        del self.options[key]
        return {field: True}

    def take(self, key: str, field: str, read: Any) -> Json:
        """`{field: value}` where `read` makes a value of the option's text, which is taken."""
        value = read(self.options[key]) if key in self.options else None
        if not value:
            return {}
        del self.options[key]
        return {field: value}


def settings_of(left: Remaining, catalog: PaimonCatalog) -> Json:
    """The members of `spec` beside schema and identity. Takes their options out of `left`."""
    defaults = catalog.spec.table_defaults or TableDefaults()
    blocks = {
        "bucket": _bucket(left),
        "mergeEngine": _merge_engine(left),
        "sequence": _sequence(left),
        "changelogProducer": _changelog_producer(left),
        "deletionVectors": left.switch("deletion-vectors.enabled", "enabled"),
        "compaction": _compaction(left, defaults),
    }
    found = {field: block for field, block in blocks.items() if block}
    found |= _retention(left, defaults) | _tags(left, defaults)
    options = {key: left.options.pop(key) for key in sorted(left.options) if values.may_stand_in_options(key)}
    return found | ({"options": options} if options else {})


def aggregate_of(left: Remaining, column: str) -> Json:
    """The aggregate of a column; empty without one."""
    prefix = f"{OF_FIELDS}{column}"
    function = left.take(f"{prefix}.aggregate-function", "function", str)
    if not function:
        return {}
    return {
        **function,
        **left.switch(f"{prefix}.ignore-retract", "ignoreRetract"),
        **left.take(f"{prefix}.list-agg-delimiter", "delimiter", str),
        **left.switch(f"{prefix}.distinct", "distinct"),
        **left.take(f"{prefix}.nested-key", "nestedKey", values.names),
        **left.take(f"{prefix}.count-limit", "countLimit", values.number),
    }


def _bucket(left: Remaining) -> Json:
    word = left.word("bucket")
    if word in ("", AUTOMATIC_BUCKETS):
        left.options.pop("bucket", None)
        return {}
    if word == POSTPONE_BUCKET:
        del left.options["bucket"]
        return {"type": "Postpone"}
    count = left.take("bucket", "count", values.number)
    return {"type": "Fixed", "fixed": count | left.take("bucket-key", "keys", values.names)} if count else {}


def _merge_engine(left: Remaining) -> Json:
    type_ = left.take("merge-engine", "type", lambda text: _FIELD_OF_ENGINE.get(text.strip().lower()))
    if "merge-engine" in left.options:
        return {}
    block = {
        **left.switch("ignore-delete", "ignoreDelete"),
        **left.switch("ignore-update-before", "ignoreUpdateBefore"),
        **left.take("rowkind.field", "rowKindField", str),
    }
    if type_.get("type") == MergeEngineType.PARTIAL_UPDATE:
        block |= _named("partialUpdate", _partial_update(left))
    if type_.get("type") == MergeEngineType.AGGREGATION:
        removes = left.switch("aggregation.remove-record-on-delete", "removeRecordOnDelete")
        block |= _named("aggregation", removes)
    if not block and type_.get("type", MergeEngineType.DEDUPLICATE) == MergeEngineType.DEDUPLICATE:
        return {}
    return {"type": MergeEngineType.DEDUPLICATE.value, **type_, **block}


def _partial_update(left: Remaining) -> Json:
    removing = "partial-update.remove-record-on"
    return {
        **_named("sequenceGroups", list(_sequence_groups(left))),
        **left.switch(f"{removing}-delete", "removeRecordOnDelete"),
        **left.take(f"{removing}-sequence-group", "removeRecordOnSequenceGroup", values.names),
    }


def _sequence_groups(left: Remaining) -> Iterator[Json]:
    for key in sorted(left.options):
        fields, _, last = key.removeprefix(OF_FIELDS).rpartition(".")
        if key.startswith(OF_FIELDS) and last == SEQUENCE_GROUP:
            yield {"sequenceFields": values.names(fields), **left.take(key, "columns", values.names)}


def _sequence(left: Remaining) -> Json:
    fields = left.take("sequence.field", "fields", values.names)
    if not fields or left.word("sequence.field.sort-order") != "descending":
        return fields
    del left.options["sequence.field.sort-order"]
    return fields | {"sortOrder": "Descending"}


def _changelog_producer(left: Remaining) -> Json:
    type_ = left.take("changelog-producer", "type", lambda text: _FIELD_OF_PRODUCER.get(text.strip().lower()))
    match type_.get("type"):
        case "Lookup":
            settings = _named("lookup", _taken(left, _LOOKUP))
        case "FullCompaction":
            commits = left.take("full-compaction.delta-commits", "deltaCommits", values.number)
            settings = _named("fullCompaction", commits)
        case "Input":
            return type_
        case _:
            return {}
    return type_ | left.switch("changelog-producer.row-deduplicate", "rowDeduplicate") | settings


def _compaction(left: Remaining, defaults: TableDefaults) -> Json:
    """The mode, where the catalog's is not that of the table: a job outside the operator compacts now, or nobody.

    A table that the engine's compaction sorts is sorted by the operator: no other block has its options.
    """
    sort = _sort(left) if left.word("write-only") == TRUE else {}
    write_only = bool(left.switch("write-only", "on"))
    if sort:
        return {"mode": CompactionMode.DEDICATED.value, "sort": sort}
    inherited = defaults.compaction.mode if defaults.compaction else CompactionMode.INLINE
    if write_only is (inherited in WRITE_ONLY_MODES):
        return {}
    return {"mode": (CompactionMode.EXTERNAL if write_only else CompactionMode.INLINE).value}


def _sort(left: Remaining) -> Json:
    """The order of a table with incremental clustering; empty for an order that no manifest can hold."""
    order = _FIELD_OF_CLUSTERING.get(left.word(CLUSTERING_STRATEGY))
    columns = values.names(left.options.get(CLUSTERING_COLUMNS, ""))
    if order is None or not columns or not left.switch(CLUSTERING, "on"):
        return {}
    del left.options[CLUSTERING_STRATEGY], left.options[CLUSTERING_COLUMNS]
    return {"order": order, "columns": columns, "schedule": SORT_SCHEDULE}


def _retention(left: Remaining, defaults: TableDefaults) -> Json:
    """The members that differ from the catalog's."""
    inherited = Remaining(retention_options(defaults.retention))
    found = {member: (_taken(left, fields), _taken(inherited, fields)) for member, fields in _RETENTION.items()}
    own = {member: block for member, (block, default) in found.items() if block != default}
    return _named("retention", own)


def _tags(left: Remaining, defaults: TableDefaults) -> Json:
    if left.word("tag.automatic-creation") not in _FIELD_OF_CREATION:
        return {}
    block = _taken(left, _TAGS)
    return {} if block == _taken(Remaining(tag_options(defaults.tags)), _TAGS) else {"tags": block}


def _taken(left: Remaining, fields: Mapping[str, tuple[str, Any]]) -> Json:
    return {name: value for key, of in fields.items() for name, value in left.take(key, *of).items()}


def _named(field: str, value: Any) -> Json:
    return {field: value} if value else {}
