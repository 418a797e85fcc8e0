"""The plan of an edit, as the status of a table and of a run show it."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from paimon_operator.api.base import ApiModel, Hash, Positive, truncated
from paimon_schema.plan import Plan
from paimon_schema.steps import Change, Step, StepCost

MAX_STEPS: Final = 32
_TEXT_LENGTH: Final = 256


class PlanStep(ApiModel):
    """A step of a plan."""

    change: Change
    """Kind of the change."""
    field: Annotated[str, Field(max_length=_TEXT_LENGTH)]
    """Field of the manifest that asks for the step."""
    cost: StepCost
    """Metadata: it writes the schema only. Rewrite: it rewrites data files. LosesData: data becomes unreadable for
    good."""
    message: Annotated[str, Field(max_length=_TEXT_LENGTH)]
    """The step in words."""


class EditPlan(ApiModel):
    """The steps that make the table match the manifest. They apply together, or none of them.

    A rescale has a plan of its own, which comes after them.
    """

    hash: Hash
    """Hash of all steps. The annotation paimon-operator.dev/approve with this value approves them."""
    count: Positive
    """Number of steps."""
    steps: Annotated[tuple[PlanStep, ...], Field(max_length=MAX_STEPS)] = ()
    """The first steps. Steps that rewrite or lose data come before the others."""


def shown(plan: Plan) -> EditPlan | None:
    """The plan as a status holds it; None for one without steps."""
    if not plan.steps:
        return None
    ordered = sorted(plan.steps, key=lambda step: step.cost is StepCost.METADATA)
    return EditPlan(hash=plan.hash, count=len(ordered), steps=tuple(_shown(each) for each in ordered[:MAX_STEPS]))


def _shown(step: Step) -> PlanStep:
    field, message = truncated(step.field, _TEXT_LENGTH), truncated(step.sentence, _TEXT_LENGTH)
    return PlanStep(change=step.change, field=field, cost=step.cost, message=message)
