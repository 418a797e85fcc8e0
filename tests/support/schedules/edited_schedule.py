"""Schedules of a table whose manifest is edited meanwhile: every option that may be set, in every order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from tests.support.generated_manifests.domain import OPTIONS
from tests.support.schedules.generator import Generator
from tests.support.schedules.kind_manifest import base_spec
from tests.support.schedules.kinds import FORMATS, TableKind
from tests.support.schedules.schedule import Schedule

PRODUCER: Final = "changelogProducer"
MODE: Final = "compaction.mode"
_TYPED: Final = (PRODUCER, MODE)
_NO_PART: Final = ("commit.", "cross-partition-upsert.", "fields.", "upsert-key", "write-only", "zorder.")
"""How long commits wait, and options of other tables than these or with values of their own below."""
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


class Edited(StrEnum):
    """What only these schedules have."""

    EDIT = "EditManifest"


def edited_schedule(seed: int) -> Schedule:
    """The schedule of this seed."""
    return _Generator(seed).make()


def spec_of(kind: TableKind, settings: dict[str, str]) -> dict[str, Any]:
    """The spec of the manifest with these settings, without the catalog and the database."""
    options = {"file.format": kind.format} | {name: value for name, value in settings.items() if name not in _TYPED}
    mode = settings.get(MODE, "Inline" if kind.inline else "Dedicated")
    spec = {**base_spec(kind), "compaction": {"mode": mode}, "options": options}
    return spec | ({PRODUCER: {"type": settings[PRODUCER]}} if PRODUCER in settings else {})


@dataclass
class _Generator(Generator):
    changed: list[str] = field(default_factory=list)
    """Settings that an edit has changed."""

    def _maintained(self, kind: TableKind) -> TableKind:
        """The kind without maintenance of its own: the model is to know all that an edit can change."""
        return replace(kind, sorted=False, edited=True, format=self.random.choice(FORMATS))

    def _choices(self) -> list[tuple[Callable[[], object], int]]:
        return [*super()._choices(), (self._edit, 14)]

    def _edit(self) -> None:
        changes: dict[str, str | None] = {}
        if not self.changed:  # each setting comes first somewhere
            name = [*SETTINGS][self.seed % len(SETTINGS)]
            changes[name] = self.random.choice(SETTINGS[name])
        for _ in range(self.random.choice([1, 1, 2, 3])):
            if self.changed and self.random.random() < 0.3:
                changes[self.random.choice(self.changed)] = None
            else:
                changes |= self._drawn()
        self.changed += [name for name in changes if name not in self.changed]
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
