"""Applies a plan to a table, with the operator's own marks, in as few schema commits as Paimon allows.

Nothing is written when nothing differs: every ALTER writes a schema file, even one that changes nothing. A driver that
dies between two commits leaves a table from which the next attempt plans the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from paimon_contract.result import PlanStep, ResultPlan
from paimon_schema.option_changes import COMMENTED_OPTION
from paimon_schema.plan import Plan
from paimon_schema.steps import Change, Step, StepCost, option_step
from paimon_schema.table_schema import NULL_COMMENT
from paimon_schema.uses import DEFAULTED_OPTION, MANAGED_OPTION
from spark_apps.catalog.session import Session
from spark_apps.schema.schema_changes import schema_changes
from spark_apps.schema.wording import Wording

_MAX_STEPS, _MESSAGE_LENGTH, _FIELD_LENGTH = 12, 120, 160
APPLYING_OPTION: Final = "paimon-operator.applying"
"""Table option of a plan of several commits, from the first of them until the last: `<its hash> <what is declared>`."""


@dataclass(frozen=True)
class Alteration:
    """A plan for a table with the options `has`; `declared` identifies the declaration (`DeclaredSchema.digest`).

    `corrections` are steps behind the plan that no manifest asks for. They need no approval.
    """

    plan: Plan
    has: Mapping[str, str]
    declared: str
    corrections: tuple[Step, ...] = ()

    def is_approved(self, approved: str | None) -> bool:
        """Whether a user has approved the plan: now, or before an earlier attempt made the first of its commits."""
        if not self.plan.needs_approval:
            return True
        return approved is not None and (
            approved == self.plan.hash or self.has.get(APPLYING_OPTION) == f"{approved} {self.declared}"
        )

    def commits(self, marks: Mapping[str, str]) -> tuple[tuple[Step, ...], ...]:
        """The steps of each schema commit, together with the operator's own options, `marks`. Nothing to do is none."""
        own = list(_mark_steps(self.has, marks))
        *first, last = self.plan.commits or ((),)
        applying = option_step(APPLYING_OPTION, f"{self.plan.hash} {self.declared}")
        if first and APPLYING_OPTION not in self.has:
            own.append(option_step(APPLYING_OPTION, None))
        found = (*((*steps, applying) for steps in first), (*last, *self.corrections, *own))
        return tuple(steps for steps in found if steps)

    def apply(self, marks: Mapping[str, str], session: Session) -> None:
        """Makes the commits."""
        for steps in self.commits(marks):
            commit(list(steps), session)


def plan_in_result(plan: Plan, wording: Wording) -> ResultPlan:
    """The plan as a result holds it."""
    ordered = sorted(plan.steps, key=lambda step: step.cost is StepCost.METADATA)
    steps = tuple(
        PlanStep(
            change=step.change.value,
            field=wording.field(step)[:_FIELD_LENGTH],
            cost=step.cost.value,
            message=wording.sentence(step)[:_MESSAGE_LENGTH],
        )
        for step in ordered[:_MAX_STEPS]
    )
    return ResultPlan(hash=plan.hash, count=len(plan.steps), steps=steps)


def _mark_steps(has: Mapping[str, str], marks: Mapping[str, str]) -> Iterator[Step]:
    for option, value in sorted(marks.items()):
        if has.get(option) != value:
            yield option_step(option, value, has.get(option))
    for option in (MANAGED_OPTION, COMMENTED_OPTION, DEFAULTED_OPTION, APPLYING_OPTION):
        if option in has and option not in marks:
            yield option_step(option, None, has[option])


def commit(steps: list[Step], session: Session) -> None:
    """One schema commit with all of the steps; none without a step."""
    if steps:
        changes: list[Any] = schema_changes([*_without_null_comment(steps, session), *steps], session)
        session.catalog.alterTable(session.identifier, session.java_list(changes), False)


def _without_null_comment(steps: Iterable[Step], session: Session) -> Iterator[Step]:
    """Keeps a table of pypaimon without a comment: Paimon would store the one that it believes to have read."""
    sets_one = any(each.change is Change.SET_TABLE_COMMENT for each in steps)
    if not sets_one and session.existing_table().schema().comment() == NULL_COMMENT:
        yield Step(change=Change.SET_TABLE_COMMENT, before=NULL_COMMENT)
