"""The edit of an existing table: its plan, refused where a step is not legal, or not approved."""

from __future__ import annotations

from dataclasses import dataclass

from paimon_contract.result import Outcome
from paimon_schema.drift_corrections import Corrections
from spark_apps.schema.alter import Alteration
from spark_apps.schema.drift_at_provision import DriftAtProvision
from spark_apps.schema.refusals import refuse_plan, unapproved
from spark_apps.schema.wording import Wording


@dataclass(frozen=True)
class Edit:
    """What is to be done, and the words for it."""

    alteration: Alteration
    wording: Wording

    @property
    def sentences(self) -> tuple[str, ...]:
        """The steps in words."""
        steps = (*self.alteration.plan.steps, *self.alteration.corrections)
        return tuple(self.wording.sentence(step) for step in steps)


def planned_edit(drift: DriftAtProvision, *, is_own: bool) -> Edit:
    """The edit from the table's schema to the declared one. Raises RunError where none of it may be applied."""
    wording, alteration = Wording(drift.declared, is_own), alteration_of(drift, drift.possible)
    plan, provision = alteration.plan, drift.provision
    refuse_plan(drift.job, plan, drift.declared, is_own=is_own, outcome=Outcome(drift=drift.as_found()))
    if provision.approve and not alteration.is_approved(provision.approved):
        raise unapproved(drift.job, plan, wording)
    return Edit(alteration, wording)


def alteration_of(drift: DriftAtProvision, possible: Corrections) -> Alteration:
    """What the run does to the table of which so much is possible."""
    corrections = possible.steps if drift.provision.corrects else ()
    return Alteration(possible.plan, possible.table.options, possible.declared.digest, corrections)
