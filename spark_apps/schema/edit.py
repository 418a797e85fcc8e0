"""The edit of an existing table: its plan, refused where a step is not legal, or not approved."""

from __future__ import annotations

from dataclasses import dataclass

from paimon_contract.result import Outcome
from paimon_schema.drift_corrections import Corrections
from paimon_schema.table_schema import TableSchema
from spark_apps.schema.alter import Alteration
from spark_apps.schema.declared import declared_with_count_of
from spark_apps.schema.drift_at_provision import DriftAtProvision
from spark_apps.schema.refusals import refuse_plan, unapproved
from spark_apps.schema.wording import Wording


@dataclass(frozen=True)
class Edit:
    """What is to be done, and the words for it."""

    alteration: Alteration
    wording: Wording


def planned_edit(drift: DriftAtProvision, *, is_own: bool) -> Edit:
    """The edit from the table's schema to the declared one. Raises RunError where none of it may be applied."""
    declared, plan, provision = drift.declared, drift.plan, drift.provision
    wording = Wording(declared, is_own)
    refuse_plan(drift.job, plan, declared, is_own=is_own, outcome=Outcome(drift=drift.as_found()))
    alteration = alteration_of(drift, drift.drift.latest)
    if provision.approve and not alteration.is_approved(provision.approved):
        raise unapproved(drift.job, plan, wording)
    return Edit(alteration, wording)


def alteration_of(drift: DriftAtProvision, has: TableSchema) -> Alteration:
    """What the run does to the table if that has the schema `has`, with the changes that the run has found."""
    declared = declared_with_count_of(has, drift.provision)
    possible = Corrections(has, declared, drift.drift.changes, drift.engine)
    corrections = possible.steps if drift.provision.corrects else ()
    return Alteration(possible.plan, has.options, declared.digest, corrections)
