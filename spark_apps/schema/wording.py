"""Steps of a plan in the words of a message.

Messages about a table that the PaimonTable does not own repeat the manifest only: see `differences`.
"""

from __future__ import annotations

from dataclasses import dataclass

from paimon_schema.steps import Change, Step
from paimon_schema.table_schema import DeclaredSchema


@dataclass(frozen=True)
class Wording:
    """What is said of the steps that lead to `declared`."""

    declared: DeclaredSchema
    is_own: bool

    def field(self, step: Step) -> str:
        """The field of the manifest; without a name that only the table has."""
        return step.field if self.is_own or self._is_declared(step) else step.field.partition("[")[0]

    def sentence(self, step: Step) -> str:
        """The step in words; without what the table has, if it is not the object's own."""
        return step.sentence if self.is_own else f"{step.change.value}: {self.field(step)}"

    def _is_declared(self, step: Step) -> bool:
        if step.option is not None:
            return step.option in self.declared.options
        names = {each.name for each in self.declared.columns}
        asked_for = step.change in (Change.RENAME_COLUMN, Change.DROP_COLUMN)
        return asked_for or not step.path or step.path[0] in names
