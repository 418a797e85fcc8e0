"""What an engine can do, as types. `app` loads spark_apps/engines.yaml and engines/<id>.json once and hands them in.

Nothing about an engine is known here: every question is answered from the data that was generated out of its jar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

Json = Mapping[str, Any]

_PLACEHOLDER: Final = "<"


class ValueKind(StrEnum):
    """What a value of an option has to look like."""

    BOOLEAN = "Boolean"
    INTEGER = "Integer"
    LONG = "Long"
    FLOAT = "Float"
    DOUBLE = "Double"
    DURATION = "Duration"
    SIZE = "MemorySize"
    ENUM = "Enum"
    TEXT = "String"


@dataclass(frozen=True, kw_only=True)
class Option:
    """One table option of Paimon. `default` is the text that Paimon would store, None where it has none."""

    key: str
    kind: ValueKind
    default: str | None
    values: tuple[str, ...]
    """What an enum may say, in Paimon's spelling."""
    immutable: bool
    """Paimon refuses to change it once the table has a snapshot."""


@dataclass(frozen=True, kw_only=True)
class StorageKeys:
    """How endpoint, region and path style are called on one way to S3. What is always the same, the Spark side adds."""

    endpoint: str
    region: str
    path_style: str
    provider: str
    """The option that names the class which credentials come from; the engine's default is the Pod's environment."""
    file_provider: str
    """The class that reads the file of AWS_SHARED_CREDENTIALS_FILE."""
    workload_provider: str
    """The class that finds out by which identity the Pod is known to the cloud."""


@dataclass(frozen=True, kw_only=True)
class Engine:
    """A supported pair of Paimon and Spark."""

    id: str
    paimon: str
    """Version of Paimon."""
    spark: str
    """Version of Spark, major and minor."""
    options: Mapping[str, Option]
    """By key; an option's older names (fallback keys) lead to it too."""
    procedures: Mapping[str, frozenset[str]]
    """Name -> names of its arguments."""
    aggregates: Mapping[str, frozenset[str]]
    """Aggregate function -> roots of the column types that it really merges."""
    file_formats: Mapping[str, frozenset[str]]
    """File format -> the compressions with which a table of it was really written and read."""
    block_compressions: frozenset[str]
    """Compressions of what is spilled to the local disk."""
    stats_modes: frozenset[str]
    """Ways to keep a column's statistics; the number in truncate(16) is free."""
    metastores: frozenset[str]
    locks: frozenset[str]
    """Who keeps the locks that hold commits apart: PostgreSQL for the metastore Jdbc, Hive for Hive."""
    catalog_keys: StorageKeys
    """For Paimon's own way to S3."""
    input_keys: StorageKeys
    """For Hadoop's S3A, which reads the input files."""

    def has_argument(self, procedure: str, argument: str) -> bool:
        """Whether `CALL sys.<procedure>` takes an argument of this name."""
        return argument in self.procedures.get(procedure, frozenset())

    @property
    def has_minor_compaction(self) -> bool:
        """Whether a compaction can be told to merge few sorted runs only."""
        return self.has_argument("compact", "compact_strategy")

    def nearest_option(self, key: str) -> str | None:
        """The known option that `key` was probably meant to be, None if none is near."""
        return next(iter(get_close_matches(key, self.options, n=1, cutoff=0.6)), None)


def parse_engines(listed: Mapping[str, Json], generated: Mapping[str, Json]) -> dict[str, Engine]:
    """All engines by id, in the order of `listed` (the `engines` of engines.yaml), which ends with the newest.

    `generated` has the document of engines/<id>.json by id; an engine without one is left out: nothing is known of it.
    """
    return {name: parse_engine(name, entry, generated[name]) for name, entry in listed.items() if name in generated}


def parse_engine(name: str, entry: Json, generated: Json) -> Engine:
    """One engine. Raises KeyError when a document has not the form that spark_apps/generate.py gives it."""
    return Engine(
        id=name,
        paimon=str(entry["paimon"]),
        spark=str(entry["spark"]),
        options=MappingProxyType(_options(generated["options"])),
        procedures=_frozen_sets(generated["procedures"], lambda p: (argument["name"] for argument in p["arguments"])),
        aggregates=_frozen_sets(generated["aggregateFunctions"], lambda function: function["types"]),
        file_formats=_frozen_sets(generated["fileFormats"], lambda compressions: compressions),
        block_compressions=frozenset(generated["blockCompressions"]),
        stats_modes=frozenset(generated["statsModes"]),
        metastores=frozenset(entry["metastores"]),
        locks=frozenset(entry["locks"]),
        catalog_keys=_storage_keys(entry["s3"]),
        input_keys=_storage_keys(entry["input"]),
    )


def _options(documents: Mapping[str, Json]) -> dict[str, Option]:
    found = {key: _option(key, document) for key, document in documents.items() if _PLACEHOLDER not in key}
    for key, document in documents.items():
        for older in document["fallbackKeys"]:
            found.setdefault(older, found[key])
    return found


def _option(key: str, document: Json) -> Option:
    values = tuple(document["values"])
    return Option(
        key=key,
        kind=ValueKind.ENUM if values else _kind(document["type"]),
        default=document["default"],
        values=values,
        immutable=bool(document["immutable"]),
    )


def _kind(type_name: str) -> ValueKind:
    # What has no form of its own (a List, a Map) is text to us; Paimon reads it.
    return next((kind for kind in ValueKind if kind == type_name), ValueKind.TEXT)


def _storage_keys(entry: Json) -> StorageKeys:
    return StorageKeys(
        endpoint=entry["endpointKey"],
        region=entry["regionKey"],
        path_style=entry["pathStyleKey"],
        provider=entry["providerKey"],
        file_provider=entry["providers"]["file"],
        workload_provider=entry["providers"]["workload"],
    )


def _frozen_sets(documents: Mapping[str, Any], members: Callable[[Any], Iterable[str]]) -> Mapping[str, frozenset[str]]:
    return MappingProxyType({name: frozenset(members(document)) for name, document in documents.items()})
