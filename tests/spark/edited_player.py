"""Plays a schedule in which a manifest is edited: by the operator's rules, and by the driver of Provision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from paimon_operator.core.spec.context import TableContext
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
        """Applies what the operator's rules admit of the edit, unless the driver refuses it."""
        settings, changed = self.settings, list[str]()
        for name, value in step.settings:
            edited = {**settings, name: value} if value is not None else _without(settings, name)
            if edited != settings and not self._breaks_rules(edited):
                settings, changed = edited, [*changed, name]
        if changed and self._apply(settings):
            self.settings = settings
            self.applied += changed
            self.ask("reload")

    def _breaks_rules(self, settings: dict[str, str]) -> bool:
        problems = broken_rules(self._manifest(settings))
        self.refused += [str(each) for each in problems]
        return bool(problems)

    def _manifest(self, settings: dict[str, str]) -> TableContext:
        return context(self.lake, spec_of(self.schedule.kind, settings))

    def _apply(self, settings: dict[str, str]) -> bool:
        """Applies the manifest by the driver of Provision, unless that refuses it."""
        ended = self.lake.provision_manifest(self._manifest(settings))
        if ended.error.get("class") == "Spec":
            self.refused.append(str(ended.error["message"]))
            return False
        assert ended.code == 0, f"{self.told()}\n{ended.result}"
        return True


def _without(settings: dict[str, str], name: str) -> dict[str, str]:
    return {each: value for each, value in settings.items() if each != name}
