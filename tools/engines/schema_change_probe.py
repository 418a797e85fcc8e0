"""Finds out which changes of a schema an engine can do, by doing them on tables that hold rows.

A change counts when Paimon accepts it, the schema is as expected, and rows of before and after it are read right in
every file format, before and after a compaction. What Paimon accepts proves nothing: 0.9 accepts a comment of a ROW's
field, and cannot read the table any more. All cases share a table and a commit per format; if that fails as a whole,
halves of them do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tools.engines.probe_lake import REFUSED, ProbeLake, ProbeTable
from tools.engines.schema_change_cases import COLUMN_CASES, INT, RENAMINGS, Case, Renaming, nested_cases
from tools.engines.widening_probe import FORMATS

_OLD, _NEW = 1, 2


class _Changes:
    """Makes SchemaChanges of columns whose names begin with `prefix`. Raises Py4JError for those Paimon lacks."""

    def __init__(self, lake: ProbeLake, prefix: str) -> None:
        self._lake, self._prefix = lake, prefix
        self._make = lake.jvm.org.apache.paimon.schema.SchemaChange
        self._moves = getattr(lake.jvm.org.apache.paimon.schema, "SchemaChange$Move")

    def add(self, path: str, data_type: str) -> Any:
        parts, made = self._parts(path), self._lake.data_type(data_type)
        if len(parts) == 1:
            return self._make.addColumn(parts[0], made)
        return self._make.addColumn(self._lake.strings(parts), made, None, None)

    def drop(self, path: str) -> Any:
        return self._make.dropColumn(self._field(path))

    def rename(self, path: str, name: str) -> Any:
        return self._make.renameColumn(self._field(path), name if "." in path else self._prefix + name)

    def nullability(self, path: str, nullable: bool) -> Any:
        return self._make.updateColumnNullability(self._field(path), nullable)

    def comment(self, path: str, text: str) -> Any:
        return self._make.updateColumnComment(self._field(path), text)

    def default(self, path: str, value: str) -> Any:
        return self._make.updateColumnDefaultValue(self._lake.strings(self._parts(path)), value)

    def move_first(self, path: str) -> Any:
        return self._make.updateColumnPosition(self._moves.first(".".join(self._parts(path))))

    def _field(self, path: str) -> Any:
        parts = self._parts(path)
        return parts[0] if len(parts) == 1 else self._lake.strings(parts)

    def _parts(self, path: str) -> list[str]:
        return (self._prefix + path).split(".")


@dataclass(frozen=True)
class _Trial:
    """A case with its columns' full names."""

    name: str
    prefix: str
    case: Case

    def columns(self) -> dict[str, Any]:
        return {self.prefix + name: form for name, form in self.case.columns.items()}

    def values(self, values: Mapping[str, str]) -> dict[str, str]:
        return {self.prefix + name: sql for name, sql in values.items()}

    def own(self, columns: Sequence[str]) -> list[str]:
        """Those of a table's columns that are of this case, under their short names."""
        return [each.removeprefix(self.prefix) for each in columns if each.startswith(self.prefix)]

    def reads(self) -> dict[str, tuple[Any, Any]]:
        names = {name: self.prefix + name for name in "abt"}
        return {sql.format(**names): values for sql, values in self.case.read.items()}


class SchemaChangeProbe:
    """`schema_changes` makes its tables in `lake`."""

    def __init__(self, lake: ProbeLake) -> None:
        self._lake = lake

    def schema_changes(self) -> list[str]:
        """The names of the cases that work, sorted. Of cases with one name, all must."""
        cases = [*COLUMN_CASES.items(), *nested_cases()]
        trials = [_Trial(name, f"c{number}_", case) for number, (name, case) in enumerate(cases)]
        working = [trial for trial in trials if self._accepts(trial)]
        for file_format in FORMATS:
            working = self._working(working, file_format)
        names = {trial.name for trial in trials} - {trial.name for trial in trials if trial not in working}
        return sorted(names | {name for name, renaming in RENAMINGS.items() if self._renames(renaming)})

    def _accepts(self, trial: _Trial) -> bool:
        """Whether Paimon alters an empty table so; a refused change would hide all others of a commit."""
        try:
            self._changed(self._table([trial], FORMATS[0]), [trial])
        except (*REFUSED, RuntimeError):
            return False
        return True

    def _working(self, trials: Sequence[_Trial], file_format: str) -> list[_Trial]:
        if not trials:
            return []
        try:
            self._do(trials, file_format)
        except (*REFUSED, RuntimeError):
            half = len(trials) // 2
            halves = (trials[:half], trials[half:]) if half else ()
            return [trial for each in halves for trial in self._working(each, file_format)]
        return list(trials)

    def _do(self, trials: Sequence[_Trial], file_format: str) -> None:
        """Raises RuntimeError, or what Paimon and Spark raise, if one of the trials fails."""
        table = self._table(trials, file_format)
        self._insert(table, _OLD, [trial.values(trial.case.before) for trial in trials])
        self._changed(table, trials)
        self._insert(table, _NEW, [trial.values(trial.case.after) for trial in trials])
        self._read(table, trials)
        table.compact()
        self._read(table, trials)

    def _table(self, trials: Sequence[_Trial], file_format: str) -> ProbeTable:
        columns = {name: form for trial in trials for name, form in trial.columns().items()}
        options = {"bucket": "1", "file.format": file_format}
        return self._lake.create({"k": "INT NOT NULL", **columns}, keys=["k"], options=options)

    def _changed(self, table: ProbeTable, trials: Sequence[_Trial]) -> None:
        """Applies the changes in one commit. Raises RuntimeError if not exactly the expected schema comes of it."""
        before = table.schema.id()
        table.alter(*(change for t in trials for change in t.case.changes(_Changes(self._lake, t.prefix))))
        schema = table.schema
        found = [_described(column) for column in schema.fields()]
        wrong = [trial.name for trial in trials if trial.own(found) != list(trial.case.schema)]
        if wrong or schema.id() != before + 1:
            raise RuntimeError(f"{wrong} have {found} in schema {schema.id()} after {before}")

    def _insert(self, table: ProbeTable, key: int, values: Sequence[Mapping[str, str]]) -> None:
        row = {"k": str(key)} | {name: sql for each in values for name, sql in each.items()}
        table.insert([row[column.name()] for column in table.schema.fields()])

    def _read(self, table: ProbeTable, trials: Sequence[_Trial]) -> None:
        reads = {sql: values for trial in trials for sql, values in trial.reads().items()}
        found = table.select(", ".join(["k", *reads]))
        if found != list(zip((_OLD, _NEW), *reads.values(), strict=True)):
            raise RuntimeError(f"{[trial.name for trial in trials]} were read as {found}")

    def _renames(self, renaming: Renaming) -> bool:
        """Whether the options of a table with rows follow the rename, and its old row is read under the new names."""
        options = {"bucket": "1", **renaming.options}
        columns = {"k": "INT NOT NULL", **dict.fromkeys(renaming.columns, INT)}
        table = self._lake.create(columns, keys=renaming.keys, options=options)
        table.insert([str(number) for number in range(len(columns))])
        changes, names = _Changes(self._lake, ""), renaming.renamed
        try:
            table.alter(*(changes.rename(old, new) for old, new in names.items()))
        except REFUSED:
            return False
        expected = {_renamed(key, names): names.get(value, value) for key, value in options.items()}
        kept = dict(table.schema.options())
        row = table.select(", ".join(names.get(column, column) for column in columns))
        return expected.items() <= kept.items() and row == [tuple(range(len(columns)))]


def _described(column: Any) -> str:
    """Name, type and comment. Paimon's versions write a field's comment with COMMENT or without."""
    comment = f" '{column.description()}'" if column.description() else ""
    return f"{column.name()} {column.type().asSQLString().replace(' COMMENT ', ' ')}{comment}"


def _renamed(key: str, names: Mapping[str, str]) -> str:
    return ".".join(names.get(part, part) for part in key.split("."))
