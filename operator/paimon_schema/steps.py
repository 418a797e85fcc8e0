"""The steps of a plan: one change each, of the kinds that Paimon knows, or a rescale, and what stops a plan."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from paimon_schema.data_types import DataType
from paimon_schema.paimon_json import paimon_json

COLUMNS: Final = "spec.schema.columns"
FIRST: Final = ""
"""Stands for the place before all others, where a step names the column that precedes it."""


class Change(StrEnum):
    """Kind of a step."""

    RENAME_COLUMN = "RenameColumn"
    DROP_COLUMN = "DropColumn"
    ADD_COLUMN = "AddColumn"
    WIDEN_TYPE = "WidenType"
    ALLOW_NULL = "AllowNull"
    SET_DEFAULT = "SetDefault"
    SET_COLUMN_COMMENT = "SetColumnComment"
    MOVE_COLUMN = "MoveColumn"
    SET_TABLE_COMMENT = "SetTableComment"
    SET_OPTION = "SetOption"
    REMOVE_OPTION = "RemoveOption"
    RESCALE = "Rescale"


class StepCost(StrEnum):
    """What a step costs."""

    METADATA = "Metadata"
    """It writes the schema only."""
    REWRITE = "Rewrite"
    """It rewrites data files."""
    LOSES_DATA = "LosesData"
    """It makes data unreadable for good."""


_SENTENCES: Final = {
    Change.RENAME_COLUMN: "rename {what} to {after}",
    Change.DROP_COLUMN: "drop {what}",
    Change.ADD_COLUMN: "add {what} {type}",
    Change.WIDEN_TYPE: "widen {what}: {before} -> {type}",
    Change.ALLOW_NULL: "allow NULL in {what}",
    Change.SET_DEFAULT: "default of {what}: {before} -> {after}",
    Change.SET_COLUMN_COMMENT: "comment of {what}",
    Change.MOVE_COLUMN: "move {what} {place}",
    Change.SET_TABLE_COMMENT: "comment of the table",
    Change.SET_OPTION: "option {option}: {before} -> {after}",
    Change.REMOVE_OPTION: "option {option}: {before} -> {after}",
    Change.RESCALE: "rescale from {before} to {after} buckets",
}
_COSTS: Final = {Change.DROP_COLUMN: StepCost.LOSES_DATA, Change.RESCALE: StepCost.REWRITE}
"""All other changes write the schema only."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One change. `path` leads to the column or nested field; it is empty for the table itself.

    `before` and `after` are the name, comment, default or option value that changes; None: there is none. `type` is
    that of an added column and the new one of a widened. `place` is the column or field that precedes an added or
    moved one, FIRST for none.
    """

    change: Change
    path: tuple[str, ...] = ()
    option: str | None = None
    before: str | None = None
    after: str | None = None
    type: DataType | None = None
    place: str | None = None

    @property
    def cost(self) -> StepCost:
        """What the step costs."""
        return _COSTS.get(self.change, StepCost.METADATA)

    @property
    def field(self) -> str:
        """The field of the manifest that asks for the step; an option is named by its key."""
        if self.change is Change.RESCALE:
            return "spec.bucket.fixed.count"
        if self.option is not None:
            return f"spec.options[{self.option}]"
        if not self.path:
            return "spec.schema.comment"
        if self.change is Change.DROP_COLUMN:
            return f"spec.schema.droppedColumns[{'.'.join(self.path)}]"
        return f"{COLUMNS}[{self.after if self.change is Change.RENAME_COLUMN else self.path[0]}]"

    @property
    def sentence(self) -> str:
        """The step in words: `add column price DECIMAL(12,2)`."""
        name = ".".join(self.path)
        return _SENTENCES[self.change].format(
            what=f"field {name}" if len(self.path) > 1 else f"column {name}",
            option=self.option,
            before=_said(self.before),
            after=_said(self.after),
            type=self.type,
            place=f"after {self.place}" if self.place else "to the front",
        )

    def document(self) -> dict[str, Any]:
        """The step as JSON, from which the hash of a plan is made: equal for equal steps."""
        values = {
            "change": self.change.value,
            "path": list(self.path),
            "option": self.option,
            "before": self.before,
            "after": self.after,
            "type": None if self.type is None else paimon_json(self.type),
            "place": self.place,
        }
        return {key: value for key, value in values.items() if value is not None}


def option_step(option: str, after: str | None, before: str | None = None) -> Step:
    """The step that sets an option, or removes it if `after` is None."""
    change = Change.REMOVE_OPTION if after is None else Change.SET_OPTION
    return Step(change=change, option=option, before=before, after=after)


@dataclass(frozen=True)
class Refusal:
    """A difference that Paimon, or a promise of the operator, does not allow to be altered.

    `sentence` says which and why, as a clause. `remedy` is a sentence.
    """

    field: str
    sentence: str
    remedy: str


def _said(value: str | None) -> str:
    return "unset" if value is None else value
