"""Schedules of a table whose manifest is edited meanwhile: every option that may be set, in every order."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from typing import Any, Final

from tests.support.generated_manifests.domain import OPTIONS
from tests.support.schedules.generator import Generator
from tests.support.schedules.kinds import AGGREGATION, DYNAMIC, FIRST_ROW, KINDS, TableKind
from tests.support.schedules.schedule import Schedule

PRODUCER: Final = "changelogProducer"
MODE: Final = "compaction.mode"
_TYPED: Final = (PRODUCER, MODE)
_NO_PART: Final = ("commit.", "cross-partition-upsert.", "fields.", "upsert-key", "write-only", "zorder.")
"""Options of waiting times, and what concerns other tables."""
_OWN: Final = {
    "manifest.compression": ("zstd",),  # the others are not read without a JVM: docs/health.md
    "file-index.bloom-filter.columns": ("k", "a,b"),
    "file-index.bitmap.columns": ("a", "k"),
    "file-index.bsi.columns": ("b",),
    "file-index.range-bitmap.columns": ("a",),
    "fields.a.stats-mode": ("none", "counts"),
}
SETTINGS: Final = {k: v for k, v in OPTIONS.items() if not k.startswith(_NO_PART)} | _OWN
"""Option -> values, of which the operator refuses some."""
OFTEN: Final = tuple(
    key
    for key in SETTINGS
    if key.startswith(("num-", "compaction.", "lookup", "force-", "file.format", "write-", "sort-", "dynamic-"))
)
"""Those that decide how rows are merged, and which files are."""
_NAMES: Final = {
    "deduplicate": "Deduplicate",
    "partial-update": "PartialUpdate",
    "aggregation": "Aggregation",
    "first-row": "FirstRow",
}
_PRODUCERS: Final = {"none": "None", "input": "Input", "lookup": "Lookup", "full-compaction": "FullCompaction"}
_FUNCTIONS: Final = {"seq": "max", "a": "sum", "b": "max"}


class Edited(StrEnum):
    """What only these schedules have."""

    EDIT = "EditManifest"


def edited_schedule(seed: int) -> Schedule:
    """The schedule of this seed."""
    return _Generator(seed).make()


def spec_of(kind: TableKind, settings: dict[str, str]) -> dict[str, Any]:
    """The spec of the manifest with these settings, without the catalog and the database."""
    typed = {name: value for name, value in settings.items() if name in _TYPED}
    spec: dict[str, Any] = {
        "schema": _schema(kind),
        "bucket": _bucket(kind),
        "compaction": {"mode": typed.get(MODE, "Inline" if kind.inline else "Dedicated")},
        "options": {"file.format": kind.format} | {k: v for k, v in settings.items() if k not in _TYPED},
    }
    if not kind.has_key:
        return spec
    spec |= {"mergeEngine": {"type": _NAMES[kind.engine]}}
    spec |= {"changelogProducer": {"type": typed.get(PRODUCER, _PRODUCERS[kind.producer])}}
    if kind.engine not in (FIRST_ROW, AGGREGATION):
        spec["sequence"] = {"fields": ["seq"]}
    return spec | ({"deletionVectors": {"enabled": True}} if kind.vectors else {})


def _schema(kind: TableKind) -> dict[str, Any]:
    columns: list[dict[str, Any]] = [{"name": name, "type": "INT"} for name in ("p", "k", "seq", "a", "b")]
    if kind.engine == AGGREGATION:
        columns = [each | _aggregated(each["name"]) for each in columns]
    keys = {"primaryKeys": list(kind.keys)} if kind.has_key else {}
    return {"columns": columns, **keys, **({"partitionKeys": ["p"]} if kind.partitioned else {})}


def _aggregated(column: str) -> dict[str, Any]:
    return {"aggregate": {"function": _FUNCTIONS[column]}} if column in _FUNCTIONS else {}


def _bucket(kind: TableKind) -> dict[str, Any]:
    if kind.buckets == DYNAMIC:
        return {"type": "Dynamic" if kind.has_key else "Unaware"}
    keys = {} if kind.has_key else {"keys": ["k"]}
    return {"type": "Fixed", "fixed": {"count": kind.buckets, **keys}}


class _Generator(Generator):
    def __post_init__(self) -> None:
        self.random = random.Random(f"edited/{self.seed}")  # noqa: S311  (repeatable)
        kind = replace(KINDS[self.seed * 97 % len(KINDS)], sorted=False, edited=True)
        self.kind = replace(kind, format=self.random.choice(["parquet", "orc", "avro"]))
        self.set: list[str] = []

    def _choices(self) -> list[tuple[Callable[[], object], int]]:
        return [*super()._choices(), (self._edit, 14)]

    def _edit(self) -> None:
        changes: dict[str, str | None] = {}
        for _ in range(self.random.choice([1, 1, 2, 3])):
            if self.set and self.random.random() < 0.3:
                changes[self.random.choice(self.set)] = None
            else:
                changes |= self._drawn()
        self.set += [name for name in changes if name not in self.set]
        self._add(Edited.EDIT, settings=tuple(changes.items()))

    def _drawn(self) -> dict[str, str]:
        typed = self._typed()
        if typed and self.random.random() < 0.2:
            name = self.random.choice(list(typed))
            return {name: self.random.choice(typed[name])}
        name = self.random.choice(OFTEN if self.random.random() < 0.6 else list(SETTINGS))
        return {name: self.random.choice(SETTINGS[name])}

    def _typed(self) -> dict[str, tuple[str, ...]]:
        """What may change without the model knowing more of the table."""
        found: dict[str, tuple[str, ...]] = {} if self.kind.hides_level_0 else {MODE: ("Inline", "Dedicated")}
        if self.kind.has_key:
            few = self.kind.hides_level_0
            found[PRODUCER] = ("None", "Lookup") if few else ("None", "Input", "Lookup", "FullCompaction")
        return found
