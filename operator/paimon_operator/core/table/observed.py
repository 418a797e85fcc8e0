"""What the table controller observes before it decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.usage import Usage
from paimon_operator.core.commits.table_claims import TableClaim
from paimon_operator.core.commits.warehouses import Warehouse
from paimon_operator.core.config import OperatorFacts
from paimon_operator.core.decision import Refusal
from paimon_operator.core.spec.look import Look
from paimon_operator.core.spec.spent_budget import SpentBudget
from paimon_operator.core.table.pruning import FinishedRun
from paimon_operator.core.table.run_slots import RunLimit


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """One table's manifest, and what holds for every table."""

    table: PaimonTable
    operator: OperatorFacts


@dataclass(frozen=True, kw_only=True)
class TableObserved:
    """What was seen of the world around one table."""

    catalog: PaimonCatalog | None = None
    """The catalog it refers to; None when there is none of that name."""
    claimant: TableClaim | None = None
    """The other object that holds the physical table; None when this one may have it."""
    overlap: Warehouse | None = None
    """The warehouse of another catalog that stops the catalog of this table."""
    runs: tuple[PaimonRun, ...] = ()
    """The runs of this table that have not finished, and those that its status names. A named run that is not here does
    not exist: a live read has shown it."""
    finished: tuple[FinishedRun, ...] = ()
    """The other runs of this table."""
    refusal: Refusal | None = None
    """Why the run that the status names could not be made, or deleted, the last time (403, 422, a taken name)."""
    stopped_by: Callable[[datetime], RunLimit | None] = lambda _: None
    """The limit that stops a run of this rank; None if it may start."""
    look: Look | None = None
    """The last look of the catalog's observer."""
    spent: Callable[[Usage | None], SpentBudget | None] = lambda _: None
    """The budget that stops scheduled maintenance today, if the table has used so much; None: none does."""
    shares_drivers: bool = False
    """Whether small runs share driver Pods."""
    decided_until: datetime | None = None
    """Until when the process before has decided the due ticks of all tables. None: it is not known, or this process has
    decided about the table already."""
    may_defer: bool = True
    """Whether ticks that are skipped again need not be stored."""
    namespace_terminating: bool = False
    """Nothing can be created in the namespace any more."""

    @property
    def names_of_runs(self) -> set[str]:
        """The names that runs of this table have."""
        return {run.metadata.name for run in self.runs} | {run.name for run in self.finished}
