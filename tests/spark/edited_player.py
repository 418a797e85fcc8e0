"""Plays a schedule in which a manifest is edited: by the operator's rules, and by the driver of Provision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from paimon_operator.core.validation.table import broken_rules
from tests.spark.declared_table import context
from tests.support.schedules.edited_schedule import Edited, spec_of
from tests.support.schedules.player import Player
from tests.support.schedules.schedule import Step


@dataclass
class EditedPlayer(Player):
    """The table is that of a manifest."""

    settings: dict[str, str] = field(default_factory=dict)
    """What edits have set so far."""
    applied: list[str] = field(default_factory=list)
    """Each setting that an edit has changed."""
    refused: list[str] = field(default_factory=list)
    """Why edits were refused."""

    def _create_table(self) -> None:
        assert self._apply({}), self.refused
        self.ask("attach", warehouse=self.lake.warehouse)

    @property
    def _steps(self) -> dict[StrEnum, Callable[[Step], object]]:
        return {**super()._steps, Edited.EDIT: self._edit}

    def _edit(self, step: Step) -> None:
        changed = {**self.settings, **dict(step.settings)}
        settings = {name: value for name, value in changed.items() if value is not None}
        if self._apply(settings):
            self.settings = settings
            self.applied += [name for name, _ in step.settings]
            self.ask("reload")

    def _apply(self, settings: dict[str, str]) -> bool:
        """Applies the manifest, unless the operator or its driver refuses it."""
        found = context(self.lake, spec_of(self.schedule.kind, settings))
        if problems := broken_rules(found):
            self.refused += [str(each) for each in problems]
            return False
        ended = self.lake.provision_manifest(found)
        if ended.error.get("class") == "Spec":
            self.refused.append(str(ended.error["message"]))
            return False
        assert ended.code == 0, f"{self.told()}\n{ended.result}"
        return True
