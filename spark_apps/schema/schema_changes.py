"""The steps of a plan as Paimon's SchemaChanges (Java)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from paimon_schema.data_types import DataType
from paimon_schema.paimon_json import paimon_json
from paimon_schema.steps import Change, Step
from spark_apps.catalog.session import Session
from spark_apps.schema.column_types import java_type


def schema_changes(steps: Iterable[Step], session: Session) -> list[Any]:
    """The SchemaChange of each step, in order."""
    changes = _Changes(session)
    return [changes.of(step) for step in steps]


class _Changes:
    """Makes SchemaChanges. A name stands for a column, which all engines know, and a path for a nested field."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._new = session.jvm.org.apache.paimon.schema.SchemaChange
        self._move = getattr(session.jvm.org.apache.paimon.schema, "SchemaChange$Move")

    def of(self, step: Step) -> Any:
        """The SchemaChange of one step."""
        match step.change:
            case Change.SET_OPTION:
                return self._new.setOption(step.option, step.after)
            case Change.REMOVE_OPTION:
                return self._new.removeOption(step.option)
            case Change.SET_TABLE_COMMENT:
                return self._new.updateComment(step.after)
            case _:
                return self._of_column(step)

    def _of_column(self, step: Step) -> Any:
        match step.change:
            case Change.ADD_COLUMN:
                place = self._place(step)
                return self._new.addColumn(self._name(step), self._type(step.type), step.after, place)
            case Change.RENAME_COLUMN:
                return self._new.renameColumn(self._name(step), step.after)
            case Change.DROP_COLUMN:
                return self._new.dropColumn(self._name(step))
            case Change.WIDEN_TYPE:
                return self._new.updateColumnType(self._name(step), self._type(step.type), True)
            case Change.MOVE_COLUMN:
                return self._new.updateColumnPosition(self._place(step))
            case _:
                return self._of_attribute(step)

    def _of_attribute(self, step: Step) -> Any:
        path = self._session.java_strings(step.path)
        match step.change:
            case Change.ALLOW_NULL:
                return self._new.updateColumnNullability(path, True)
            case Change.SET_COLUMN_COMMENT:
                return self._new.updateColumnComment(path, step.after)
            case Change.SET_DEFAULT:
                return self._new.updateColumnDefaultValue(path, step.after)
        raise ValueError(f"{step.change} has no SchemaChange")

    def _name(self, step: Step) -> Any:
        return step.path[0] if len(step.path) == 1 else self._session.java_strings(step.path)

    def _place(self, step: Step) -> Any:
        name = step.path[-1]
        return self._move.after(name, step.place) if step.place else self._move.first(name)

    def _type(self, data_type: DataType | None) -> Any:
        return java_type(json.dumps(paimon_json(data_type)), self._session.jvm) if data_type else None
