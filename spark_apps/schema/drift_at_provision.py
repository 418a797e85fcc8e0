"""What a run that makes the table as declared finds of others' changes, and what becomes of each of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from paimon_contract.job import Job
from paimon_contract.parameters.provision import ProvisionParameters
from paimon_contract.result import ResultDrift
from paimon_engines.engine import Engine
from paimon_schema.drift import DriftChange, DriftKind
from paimon_schema.drift_composition import compose
from paimon_schema.drift_corrections import Corrections, asked_for, is_settled, unresolved
from paimon_schema.table_schema import DeclaredSchema, TableSchema
from spark_apps.schema.declared import declared_schema, declared_with_count_of
from spark_apps.schema.drift import Drift, Schemas, find_drift, result_of


@dataclass(frozen=True)
class DriftAtProvision:
    """The drift before the run alters anything, and the plan of the run. Use it before the table is altered."""

    job: Job
    provision: ProvisionParameters
    schemas: Schemas
    engine: Engine

    @cached_property
    def declared(self) -> DeclaredSchema:
        """What the manifest declares, except what this run leaves alone."""
        if self.latest is None:
            return declared_schema(self.provision)
        return declared_with_count_of(self.latest, self.provision)

    @cached_property
    def latest(self) -> TableSchema | None:
        """The schema with which the run begins; None without a table."""
        known = self.provision.drift
        return self.schemas.latest_schema(None if known is None else known.schema_id)

    @cached_property
    def drift(self) -> Drift:
        """What others have changed until the run began."""
        if self.latest is None:
            raise ValueError(f"the table {self.job.table} has no schema file")
        return find_drift(self.latest, self.schemas, self.provision.drift, self.engine)

    @cached_property
    def possible(self) -> Corrections:
        """The plan of the manifest, and what may be taken back beside it."""
        return self.possible_in(self.drift.latest)

    def possible_in(self, has: TableSchema) -> Corrections:
        """The same for a table that has another schema meanwhile."""
        return Corrections(has, declared_with_count_of(has, self.provision), self.drift.changes, self.engine)

    def as_found(self) -> ResultDrift:
        """The drift of a run that has altered nothing."""
        return result_of(self.drift, self.job, self.provision.drift, changes=self.drift.changes)

    def after(self, left: TableSchema, meanwhile: Iterable[DriftChange] = ()) -> ResultDrift:
        """What is left of the drift once the table is as declared. `left` is the schema that the run has left.

        `meanwhile` is what others had changed by then, since the run began.
        """
        taken_back = self._taken_back
        # (of an order that is taken back, columns that are not declared may have a part left)
        left_of = {each for each in taken_back if each.kind is not DriftKind.COLUMNS_REORDERED}
        changes = compose([each for each in self._by_others if each not in left_of], meanwhile)
        return result_of(
            Drift(left, hidden=self.drift.hidden),
            self.job,
            self.provision.drift,
            changes=unresolved(changes, self.declared),
            taken_back=taken_back,
        )

    @cached_property
    def _by_others(self) -> tuple[DriftChange, ...]:
        """The changes that the manifest does not ask for: an attempt that was killed may have made those."""
        changes, before = self.drift.changes, self.drift.before
        own = frozenset() if before is None else asked_for(changes, self.declared, before)
        return tuple(each for each in changes if each not in own)

    @cached_property
    def _taken_back(self) -> tuple[DriftChange, ...]:
        possible = (each for each in self.possible.taken_back if each in self._by_others)
        return tuple(each for each in possible if self.provision.corrects or is_settled(each, self.declared))
