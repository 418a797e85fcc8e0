"""What an engine is and can do, as types, and how they are made from the documents of this package. No I/O.

Field names are those of engines.yaml in snake_case; engines.yaml explains them. Nothing about an engine is known here:
every question is answered from the data that was generated out of its jar.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Final

from paimon_engines.bounds import NO_BOUNDS, Bounds, FreeOption, Json, Range, ValueKind
from paimon_engines.values import meaning

_VERSION: Final = re.compile(r"paimon-([0-9]+)\.([0-9]+)")
FREE_PREFIXES: Final = ("fields.", "file-index.", "orc.", "parquet.")
"""Beginnings of options whose names have free parts."""
_PLACEHOLDER: Final = "<"
_NO_DATA: Final[Json] = MappingProxyType({})


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
    range: Range | None = None
    """The values that make sense; None: all that can be read."""
    free: FreeOption | None = None
    """Set for an option whose key has a free part."""


@dataclass(frozen=True)
class Jar:
    """One jar by Maven coordinates, and its hash: `sha256` wherever it comes from, else `sha512` if it is Maven's."""

    artifact: str
    sha256: str | None
    sha512: str | None = None

    @property
    def file_name(self) -> str:
        """The name Maven gives the file: artifact-version.jar."""
        _, name, version = self.artifact.split(":")
        return f"{name}-{version}.jar"


@dataclass(frozen=True, kw_only=True)
class S3Keys:
    """How the options of one client of S3 are called: Paimon's own, or Hadoop's S3A, which reads the input files."""

    endpoint_key: str
    region_key: str
    path_style_key: str
    provider_key: str
    """The option that names the class which credentials come from; the engine's default is the Pod's environment."""
    providers: Mapping[str, str]
    """`file`: the class that reads the file of AWS_SHARED_CREDENTIALS_FILE. `workload`: the one that finds out by which
    identity the Pod is known to the cloud."""


@dataclass(frozen=True, kw_only=True)
class Engine:
    """A supported pair of Paimon and Spark. What comes after `input` is generated from the jar."""

    id: str
    paimon: str
    """Version of Paimon."""
    spark: str
    """Version of Spark, major and minor."""
    pyspark: str
    java: int
    scala: str
    jars: tuple[Jar, ...]
    """Paimon's, the connector first, and those that read the input files."""
    frozen_options: tuple[str, ...]
    file_indexes: Mapping[str, frozenset[str]]
    """Kind of index that it writes into data files -> roots of the column types that it indexes."""
    stores_default_values: bool
    """Whether writes store a column's default value in place of NULL."""
    counts_delta_commits: bool
    """Whether writers compact fully after a number of commits."""
    names_statistics: bool
    """Whether ANALYZE commits with the run's commit user. Another one looks like a foreign commit."""
    checks_lost_deletes: bool
    """Whether a compaction of a table without key and buckets fails if rows of its files are deleted meanwhile."""
    expires_changelogs_with_index: bool
    """Whether changelogs expire whose snapshots have an index, of dynamic buckets or deletion vectors."""
    rewrites_expired_records: bool
    """Whether a full compaction rewrites the only sorted run of a bucket where its records have expired."""
    metastores: frozenset[str]
    locks: frozenset[str]
    """Who keeps the locks that serialise commits: PostgreSQL for the metastore Jdbc, Hive for Hive."""
    s3_catalog_options: Mapping[str, str]
    jdbc_catalog_options: Mapping[str, str]
    hive_catalog_options: Mapping[str, str]
    input_hadoop_options: Mapping[str, str]
    s3: S3Keys
    """Of Paimon's own way to S3."""
    input: S3Keys
    """Of Hadoop's."""
    options: Mapping[str, Option] = field(default_factory=dict)
    """By key; an option's older names (fallback keys) lead to it too."""
    free_options: tuple[FreeOption, ...] = ()
    """Options whose keys have a free part."""
    procedures: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Name -> names of its arguments."""
    aggregate_functions: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Aggregate function -> roots of the column types that it really merges."""
    file_formats: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """File format -> the compressions with which a table of it was really written and read."""
    block_compressions: frozenset[str] = frozenset()
    """Compressions of what is spilled to the local disk."""
    stats_modes: frozenset[str] = frozenset()
    """Ways to keep a column's statistics; the number in truncate(16) is free."""
    widenings: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)
    """Root of a column's type -> root of a wider type -> file formats in which the widening really lost nothing."""
    schema_changes: frozenset[str] = frozenset()
    """Changes of a table's schema that were really made; tools/engines/schema_change_cases.py names them."""

    def widening_formats(self, before: str, after: str) -> frozenset[str]:
        """File formats in which a column may get the wider type; empty for what is no widening.

        Both are roots, as in DECIMAL of DECIMAL(10, 2). The caller compares their numbers.
        """
        return self.widenings.get(before, {}).get(after, frozenset())

    def widens(self, old: str, new: str, formats: Iterable[str] = ()) -> bool:
        """Whether old values are read rightly in each format that was tried: a table may have files of several.

        `formats` are those that the table's options name: in one that was not tried, as csv, nothing is widened.
        """
        tried = frozenset().union(*(formats for of in self.widenings.values() for formats in of.values()))
        return bool(tried) and self.widening_formats(old, new) >= tried.union(formats)

    def has_argument(self, procedure: str, argument: str) -> bool:
        """Whether `CALL sys.<procedure>` takes an argument of this name."""
        return argument in self.procedures.get(procedure, frozenset())

    @property
    def has_minor_compaction(self) -> bool:
        """Whether an argument of the compaction procedure limits it to few sorted runs."""
        return self.has_argument("compact", "compact_strategy")

    @property
    def has_incremental_clustering(self) -> bool:
        """Whether its compaction can sort the files of a table without primary key that are not sorted yet."""
        return "clustering.incremental" in self.options

    @property
    def has_postponed_buckets(self) -> bool:
        """Whether a table can have postponed buckets (bucket=-2)."""
        return "postpone.batch-write-fixed-bucket" in self.options

    @property
    def has_batch_tags(self) -> bool:
        """Whether batch writes of Spark create tags by themselves."""
        return "tag.batch.customized-name" in self.options

    @property
    def has_record_times_in_32_bits(self) -> bool:
        """Whether the expiry of records reads times of a type that an option names, and calculates in 32 bits."""
        return "record-level.time-field-type" in self.options

    def option(self, key: str) -> Option | None:
        """The option of this key, also by an older name or with a free part; None if the engine has none."""
        known = self.options.get(key)
        return known if known is not None else next(self._free(key), None)

    def nearest_option(self, key: str, may_be_set: Callable[[str], bool]) -> str | None:
        """The known option that `key` was probably meant to be, among those that may be set; None if none is near."""
        known = [name for name in self.options if may_be_set(name)]
        return next(iter(get_close_matches(key, known, n=1, cutoff=0.6)), None)

    def changeable(self, key: str) -> bool:
        """Whether the option may change on a table that may already hold data."""
        option = self._named(key)
        if option is not None and option.immutable:
            return False
        return not any(
            key == name or (name.endswith("*") and key.startswith(name[:-1])) for name in self.frozen_options
        )

    def knows(self, key: str) -> bool:
        """Whether `key` is an option of Paimon. Spark and Hive add properties of their own to a table."""
        return key in self.options or key.startswith(FREE_PREFIXES)

    def canonical(self, options: Mapping[str, str]) -> dict[str, str]:
        """`options` under their present names. Of several names, the present one counts, then the first older one."""
        places = {key: place for place, key in enumerate(self.options)}
        keys = sorted(options, key=lambda key: places.get(key, 0), reverse=True)
        return {self.present_name(key): options[key] for key in keys}

    def present_name(self, key: str) -> str:
        """The present name of an option that a table may have under an older one."""
        return self.options[key].key if key in self.options else key

    def default_of(self, key: str) -> str | None:
        """The value of an option that a table does not set."""
        option = self._named(key)
        return None if option is None else option.default

    def means_the_same(self, key: str, one: str | None, other: str | None) -> bool:
        """Whether Paimon reads the two values of an option as one: `1 h` and `60 min`. None is the option's default."""
        option = self.option(key)
        if option is None:
            return one == other
        texts = [option.default if text is None else text for text in (one, other)]
        first, second = (None if text is None else meaning(option.kind, text) for text in texts)
        return first == second

    def _free(self, key: str) -> Iterator[Option]:
        for free in self.free_options:
            match = free.pattern.fullmatch(key)
            if match and match.groupdict().get("index", "") in (*self.file_indexes, ""):
                yield Option(
                    key=key, kind=free.kind, default=None, values=(), immutable=False, range=free.range, free=free
                )

    def _named(self, key: str) -> Option | None:
        # A table that has the option under an older name is compared by that name only.
        option = self.options.get(key)
        return option if option is not None and option.key == key else None


def is_older(engine: str, than: str) -> bool:
    """Whether the first engine is older, by the version of Paimon in their ids.

    The second may be unknown to this release: the engine of a newer operator. Raises ValueError for a text that is no
    id of an engine.
    """
    return _version(engine) < _version(than)


def _version(engine: str) -> tuple[int, int]:
    found = _VERSION.fullmatch(engine)
    if found is None:
        raise ValueError(f"{engine!r} is no id of an engine, which is like paimon-1.4")
    return int(found[1]), int(found[2])


def parse_engine(name: str, entry: Json, generated: Json = _NO_DATA, bounds: Bounds = NO_BOUNDS) -> Engine:
    """One engine from its entry in engines.yaml and the document <id>.json.

    Without that document nothing is known that comes from the jar: enough to fetch the jars and to generate it.
    `bounds` come from option_bounds.yaml. Raises KeyError when a document has not the form that
    tools/engines/generate.py gives it.
    """
    return Engine(
        id=name,
        paimon=str(entry["paimon"]),
        spark=str(entry["spark"]),
        pyspark=str(entry["pyspark"]),
        java=entry["java"],
        scala=str(entry["scala"]),
        jars=tuple(Jar(**jar) for jar in [*entry["jars"], *entry["inputJars"]]),
        frozen_options=tuple(entry["frozenOptions"]),
        file_indexes=_frozen_sets(entry["fileIndexes"], lambda types: types),
        metastores=frozenset(entry["metastores"]),
        locks=frozenset(entry["locks"]),
        s3_catalog_options=MappingProxyType(entry["s3"]["catalogOptions"]),
        jdbc_catalog_options=MappingProxyType(entry.get("jdbc", {}).get("catalogOptions", {})),
        hive_catalog_options=MappingProxyType(entry.get("hive", {}).get("catalogOptions", {})),
        input_hadoop_options=MappingProxyType(entry["input"]["hadoopOptions"]),
        s3=_s3_keys(entry["s3"]),
        input=_s3_keys(entry["input"]),
        free_options=bounds.free,
        **_observed(entry),
        **(_generated(generated, bounds) if generated else {}),
    )


def _observed(entry: Json) -> dict[str, Any]:
    """What an engine does and no jar tells."""
    return {
        "stores_default_values": entry["storesDefaultValues"],
        "counts_delta_commits": entry["countsDeltaCommits"],
        "names_statistics": entry["namesStatistics"],
        "checks_lost_deletes": entry["checksLostDeletes"],
        "expires_changelogs_with_index": entry["expiresChangelogsWithIndex"],
        "rewrites_expired_records": entry["rewritesExpiredRecords"],
    }


def parse_engines(
    listed: Mapping[str, Json], generated: Mapping[str, Json], bounds: Bounds = NO_BOUNDS
) -> dict[str, Engine]:
    """All engines by id, in the order of `listed` (the `engines` of engines.yaml), which ends with the newest.

    `generated` has the document <id>.json by id; an engine without one is left out: nothing is known of it.
    """
    with_data = {name: entry for name, entry in listed.items() if name in generated}
    return {name: parse_engine(name, entry, generated[name], bounds) for name, entry in with_data.items()}


def _generated(document: Json, bounds: Bounds) -> dict[str, Any]:
    return {
        "options": MappingProxyType(_options(document["options"], bounds)),
        "procedures": _frozen_sets(document["procedures"], lambda p: (argument["name"] for argument in p["arguments"])),
        "aggregate_functions": _frozen_sets(document["aggregateFunctions"], lambda function: function["types"]),
        "file_formats": _frozen_sets(document["fileFormats"], lambda compressions: compressions),
        "block_compressions": frozenset(document["blockCompressions"]),
        "stats_modes": frozenset(document["statsModes"]),
        "widenings": MappingProxyType(
            {root: _frozen_sets(wider, lambda formats: formats) for root, wider in document["widenings"].items()}
        ),
        "schema_changes": frozenset(document["schemaChanges"]),
    }


def _options(documents: Mapping[str, Json], bounds: Bounds) -> dict[str, Option]:
    found = {key: _option(key, document, bounds) for key, document in documents.items() if _PLACEHOLDER not in key}
    for key, document in documents.items():
        for older in document["fallbackKeys"]:
            found.setdefault(older, found[key])
    return found


def _option(key: str, document: Json, bounds: Bounds) -> Option:
    values = tuple(document["values"])
    return Option(
        key=key,
        kind=ValueKind.ENUM if values else bounds.kinds.get(key) or _kind(document["type"]),
        default=document["default"],
        values=values,
        immutable=bool(document["immutable"]),
        range=bounds.ranges.get(key),
    )


def _kind(type_name: str) -> ValueKind:
    # What has no form of its own (a List, a Map) is text to us; Paimon reads it.
    return next((kind for kind in ValueKind if kind == type_name), ValueKind.TEXT)


def _s3_keys(entry: Json) -> S3Keys:
    return S3Keys(
        endpoint_key=entry["endpointKey"],
        region_key=entry["regionKey"],
        path_style_key=entry["pathStyleKey"],
        provider_key=entry["providerKey"],
        providers=MappingProxyType(entry["providers"]),
    )


def _frozen_sets(documents: Mapping[str, Any], members: Callable[[Any], Iterable[str]]) -> Mapping[str, frozenset[str]]:
    return MappingProxyType({name: frozenset(members(document)) for name, document in documents.items()})
