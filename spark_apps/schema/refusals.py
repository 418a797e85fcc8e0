"""Why an existing table is not made as declared, as errors of the run.

Messages about a table that the PaimonTable does not own repeat the manifest only: see `differences`.
"""

from __future__ import annotations

from typing import Any, Final

from paimon_contract.job import Job
from paimon_contract.result import Outcome
from paimon_engines.engine import Engine
from paimon_schema.plan import Plan
from paimon_schema.steps import Refusal, StepCost
from paimon_schema.table_schema import DeclaredSchema
from spark_apps.failures.causes import is_caused_by, root_message
from spark_apps.failures.errors import RunError, spec_failure
from spark_apps.schema.alter import plan_in_result
from spark_apps.schema.differences import differences
from spark_apps.schema.wording import Wording

_REFUSALS_OF_PAIMON: Final = (
    "IllegalArgumentException",
    "UnsupportedOperationException",
    "ColumnAlreadyExistException",
    "ColumnNotExistException",
)
"""Ends of the names of Java classes."""


def refuse_differences(job: Job, table: Any, wanted: Any, engine: Engine) -> None:
    """Raises RunError unless a table without this owner is as declared (`wanted`, a Java Schema)."""
    found = differences(table.schema(), wanted, engine)
    if found:
        said = "; ".join(each.sentence for each in found)
        remedy = (
            "make the manifest equal to the table, or use another table name; adoptionPolicy Adopt keeps options that "
            "can be altered, and alters those in the manifest"
        )
        raise spec_failure("TableDiffers", f"the table {job.table} differs: {said}", remedy, field=found[0].field)


def refuse_plan(job: Job, plan: Plan, declared: DeclaredSchema, *, is_own: bool, outcome: Outcome) -> None:
    """Raises RunError for a plan with a step that is not legal. The table stays as it is.

    `outcome` is reported along, if the table is the object's own.
    """
    if not plan.refusals:
        return
    first = plan.refusals[0]
    if is_own:
        said = "; ".join(each.sentence for each in plan.refusals)
        message = f"the table {job.table} differs: {said}"
        raise spec_failure("TableDiffers", message, first.remedy, field=first.field, outcome=outcome)
    fields = sorted({_own_field(each, declared) for each in plan.refusals})
    said = f"the table {job.table} differs in what cannot be altered: {', '.join(fields)}"
    remedy = "make the manifest equal to the table, or use another table name"
    raise spec_failure("TableDiffers", said, remedy, field=fields[0])


def unapproved(job: Job, plan: Plan, wording: Wording) -> RunError:
    """The error that asks for the approval of a plan. It has the plan with it."""
    costly = "; ".join(wording.sentence(step) for step in plan.steps if step.cost is not StepCost.METADATA)
    return spec_failure(
        "AwaitingApproval",
        f"the edit of table {job.table} waits for approval: {costly}",
        f"to apply it, annotate the PaimonTable with paimon-operator.dev/approve={plan.hash}",
        field="metadata.annotations[paimon-operator.dev/approve]",
        outcome=Outcome(plan=plan_in_result(plan, wording)),
    )


def refused_by_paimon(job: Job, error: Exception, *, is_own: bool) -> Exception:
    """The error for an ALTER that Paimon refuses, as one of the manifest; `error` itself if it is another one."""
    if not is_caused_by(error, *_REFUSALS_OF_PAIMON):
        return error
    why = f": {root_message(error)}" if is_own else ""
    return spec_failure("TableRefused", f"Paimon refuses to alter the table {job.table}{why}", "correct the manifest")


def _own_field(refusal: Refusal, declared: DeclaredSchema) -> str:
    """The field of the manifest; an option that only the table has is not named."""
    option = refusal.field.removeprefix("spec.options[").removesuffix("]")
    named = option == refusal.field or option in declared.options
    return refusal.field if named else "spec.options"
