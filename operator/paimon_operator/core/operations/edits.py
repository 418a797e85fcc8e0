"""Edits of the manifest that are not applied yet: their plan in the status, and what stops them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from paimon_operator.api.edit_plan import EditPlan, shown
from paimon_operator.api.policies import EvolutionPolicy
from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.operations.rescale_plan import facts_of, rescale_plan
from paimon_operator.core.operations.verification import is_verified, state_of, with_state
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.edit_plan import declared_schema, read_record, record_of
from paimon_operator.core.spec.ownership import was_moved
from paimon_operator.core.spec.paimon_options import field_of_option
from paimon_schema.plan import HASH_LENGTH, Plan, schema_after
from paimon_schema.steps import StepCost

APPROVE: Final = "paimon-operator.dev/approve"
"""Annotation with the hash of a plan that loses or rewrites data: it may be applied."""
_OPTION: Final = "spec.options["


@dataclass(frozen=True)
class EditBlocker:
    """Why an edit is not applied now."""

    reason: Reason
    message: str


def plan_ahead(context: TableContext, status: TableStatus) -> Plan | None:
    """The plan of an edit, made without a run; None if there is no edit, or if only a run can make the plan.

    Another number of buckets has a plan of its own, which follows that of the rest of the edit.
    """
    if state_of(status).hash is None or was_moved(context, status):
        return None
    if has_other_changes(context, status):
        return context.edit
    rescale = rescale_plan(context.spec, status)
    return rescale if rescale is not None or is_verified(context, status) else context.edit


def has_other_changes(context: TableContext, status: TableStatus) -> bool:
    """Whether the edit changes more than the number of buckets."""
    if is_verified(context, status):
        return False
    count = facts_of(status).bucket_count
    return count is None or context.hash_with_buckets(count) != state_of(status).hash


def blocker(context: TableContext, status: TableStatus) -> EditBlocker | None:
    """Why no run may apply the edit: the plan waits for approval. None if one may.

    A step that is not legal by the record holds nothing: a run reads the table, which somebody may have altered.
    """
    return unapproved(context, None if _is_refused(status) else plan_ahead(context, status))


def unapproved(context: TableContext, plan: Plan | None) -> EditBlocker | None:
    """That the plan waits for approval; None if it needs none, or has it, or is refused."""
    if plan is None or plan.refusals or not plan.needs_approval or not needs_approval(context):
        return None
    return None if approved(context) == plan.hash else EditBlocker(Reason.AWAITING_APPROVAL, awaiting_approval(plan))


def foreseen_refusal(context: TableContext, status: TableStatus) -> str | None:
    """The steps that are not legal by the record, before a run has read the table; None without one."""
    plan = plan_ahead(context, status)
    if plan is None or not plan.refusals:
        return None
    said = " ".join(f"{_field(each.field)}: {each.sentence}. {each.remedy}" for each in plan.refusals)
    return f"the table stays as it is: {said}"


def _is_refused(status: TableStatus) -> bool:
    """Whether a run has read the table and found a step that is not legal."""
    failure = state_of(status).failure
    return failure is not None and failure.reason == Reason.TABLE_DIFFERS


def needs_approval(context: TableContext) -> bool:
    """Whether plans that lose or rewrite data wait for approval."""
    return context.catalog.spec.evolution_policy is EvolutionPolicy.APPROVE


def approved(context: TableContext) -> str | None:
    """The hash of the plan that a user has approved; None for a text that is none, which may be long."""
    text = context.table.metadata.annotations.get(APPROVE, "")
    return text if len(text) == HASH_LENGTH else None


def awaiting_approval(plan: Plan) -> str:
    """What the plan costs, and how it is approved."""
    costly = "; ".join(step.sentence for step in plan.steps if step.cost is not StepCost.METADATA)
    return f"the edit waits for approval: {costly}. To apply it, annotate the PaimonTable with {APPROVE}={plan.hash}"


def with_edit(context: TableContext, status: TableStatus) -> TableStatus:
    """The status with the plan of the edit, and with the record of the schema once the table is verified."""
    plan, failure = plan_ahead(context, status), state_of(status).failure
    legal = None if plan is None or plan.refusals or _is_refused(status) else shown(plan)
    with_plan = status.model_copy(update={"plan": in_manifest_terms(legal)})
    if is_verified(context, status):
        return _with_record(context, with_plan)
    # The plan of a run that waits for its approval stays: it was made from the table.
    waits = plan is None and failure is not None and failure.reason == Reason.AWAITING_APPROVAL
    return status if waits else with_plan


def in_manifest_terms(plan: EditPlan | None) -> EditPlan | None:
    """The plan with the fields that the manifest has: an option may have a typed one."""
    if plan is None:
        return None
    steps = (each.model_copy(update={"field": _field(each.field)}) for each in plan.steps)
    return plan.model_copy(update={"steps": tuple(steps)})


def _with_record(context: TableContext, status: TableStatus) -> TableStatus:
    """The status with the schema that the run must have left: its columns have the digest that the run has read."""
    state = state_of(status)
    if state.columns_digest is None:
        return with_state(status, state.model_copy(update={"schema_record": None}))
    if state.recorded_for == context.wanted_hash:
        return status
    before = None if state.schema_record is None else read_record(state.schema_record)
    declared = declared_schema(context.desired)
    possible = (schema_after(each, declared) for each in (before, None))
    after = next((each for each in possible if each.columns_digest == state.columns_digest), None)
    schema_id = None if status.table is None else status.table.schema_id
    record = None if after is None or schema_id is None else record_of(replace(after, id=schema_id))
    return with_state(status, state.model_copy(update={"schema_record": record, "recorded_for": context.wanted_hash}))


def _field(field: str) -> str:
    """The field of the manifest: an option may have a typed one."""
    return field_of_option(field.removeprefix(_OPTION).removesuffix("]")) if field.startswith(_OPTION) else field
