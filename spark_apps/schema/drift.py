"""Finds what somebody else has changed in a table, from its schema files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from paimon_contract.drift import JobDrift
from paimon_contract.job import Job
from paimon_contract.result import DriftedField, ResultDrift
from paimon_schema.drift import DriftChange, DriftKind, difference, shortened
from paimon_schema.drift_composition import compose
from paimon_schema.option_changes import OptionRules
from paimon_schema.table_schema import TableSchema, read_schema_file
from spark_apps.catalog.ownership import name_of_owner

MOST_CHANGES: Final = 10
_FIELD_LENGTH: Final = 160


class Schemas(Protocol):
    """The schema files of a table."""

    def schema(self, id_: int) -> TableSchema | None:
        """The schema of this number; None if there is no such file."""

    def latest_schema(self, from_id: int | None = None) -> TableSchema | None:
        """The latest schema; `from_id` is one that has existed. None: there is none."""


@dataclass(frozen=True)
class SchemasOfTable:
    """The schema files of a table (Java FileStoreTable), read by Paimon."""

    table: Any

    def schema(self, id_: int) -> TableSchema | None:
        """The schema of this number; None if there is no such file."""
        manager = self.table.schemaManager()
        known = id_ in {int(each) for each in manager.listAllIds()}
        return read_schema_file(manager.schema(id_).toString()) if known else None

    def latest_schema(self, from_id: int | None = None) -> TableSchema | None:  # noqa: ARG002  (Paimon lists the files)
        """The latest schema."""
        return read_schema_file(self.table.schemaManager().latest().get().toString())


@dataclass(frozen=True)
class Drift:
    """What a driver finds. `before` is the schema that the operator has left; None if it is not known, or is gone.

    `found` leads from there to `latest`; `changes` are the known ones and those together. Of a change that is not among
    the known ones, `before` is sure only while none of these is hidden.
    """

    latest: TableSchema
    before: TableSchema | None = None
    found: tuple[DriftChange, ...] = ()
    changes: tuple[DriftChange, ...] = ()
    hidden: int = 0

    @property
    def is_replaced(self) -> bool:
        """Whether the table is another one than the operator has left."""
        return any(each.kind is DriftKind.TABLE_REPLACED for each in self.found)


def find_drift(latest: TableSchema, schemas: Schemas, known: JobDrift | None, rules: OptionRules) -> Drift:
    """Compares the latest schema with the recorded one."""
    if known is None:
        return Drift(latest)
    before = schemas.schema(known.schema_id)
    if before is None or before.digest != known.schema_digest:
        replaced = DriftChange(
            kind=DriftKind.TABLE_REPLACED, before=f"schema {known.schema_id}", after=f"schema {latest.id}"
        )
        return Drift(latest, None, (replaced,), (replaced,))
    found = difference(before, latest, rules)
    listed = tuple(map(_read, known.known))
    keys, changes = {each.key for each in listed}, compose(listed, found)
    sure = (replace(each, is_sure=not known.hidden or each.key in keys) for each in changes)
    return Drift(latest, before, found, tuple(sure), known.hidden)


def result_of(
    drift: Drift,
    job: Job,
    known: JobDrift | None,
    *,
    changes: Iterable[DriftChange],
    correctable: Iterable[DriftChange] = (),
    taken_back: Iterable[DriftChange] = (),
    refused: str | None = None,
) -> ResultDrift:
    """The drift as a result holds it; `changes` are those that are left of it."""
    left, may_be_corrected = tuple(changes), frozenset(correctable)
    shown = tuple(_shown(each, job, is_correctable=each in may_be_corrected) for each in left[:MOST_CHANGES])
    return ResultDrift(
        baseline_id=None if known is None else known.schema_id,
        schema_id=drift.latest.id,
        schema_digest=drift.latest.digest,
        schema_time=_time_of(drift.latest),
        count=len(left) + drift.hidden,
        changes=shown,
        refused=refused,
        taken_back=tuple(_shown(each, job) for each in tuple(taken_back)[:MOST_CHANGES]),
    )


def _read(field: DriftedField) -> DriftChange:
    return DriftChange(kind=DriftKind(field.change), field=field.field, before=field.before, after=field.after)


def _shown(change: DriftChange, job: Job, *, is_correctable: bool = False) -> DriftedField:
    if change.kind is DriftKind.OWNER_CHANGED:  # (an object of another namespace is not named)
        before = name_of_owner(job, job.owner)
        change = replace(change, before=before, after=name_of_owner(job, change.after))
    return DriftedField(
        change=change.kind.value,
        field=change.field[:_FIELD_LENGTH],
        before=shortened(change.before),
        after=shortened(change.after),
        correctable=is_correctable or None,
    )


def _time_of(schema: TableSchema) -> str:
    time = datetime.fromtimestamp((schema.time_ms or 0) / 1000, UTC)
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")
