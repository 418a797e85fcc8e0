"""Finds out which widenings of a column's type really work, by altering tables that hold the extreme values of it.

A widening works in a file format when rows of before and after it are read as the new type, equal to what was written,
and are found by filters, before and after a compaction has rewritten all files; in tables with and without a key.

All columns are tried in one table. If that fails as a whole, it is split, down to one pair of roots. A pair counts
only with all the numbers that were tried. It also fails where the engine cannot filter the old type in this format at
all, as Paimon 0.9 cannot filter a TINYINT or SMALLINT in Parquet: old files stay like that until they are compacted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tools.engines.probe_lake import REFUSED, ProbeLake, ProbeTable
from tools.engines.widening_pairs import PLACES, Place, Widening, extremes, lossless, widened

FORMATS: Final = ("avro", "orc", "parquet")
COLUMN: Final = "column"
_KINDS: Final[Sequence[tuple[Sequence[str], Mapping[str, str]]]] = (
    (["k"], {"bucket": "1"}),
    ([], {"bucket": "-1", "compaction.max.file-num": "5"}),
)
"""Keys and options of a table with a key and of one without, of which any five files are compacted."""
_OLD, _NEW, _NULLS = range(3), range(10, 13), 2
"""Keys of the rows with values, least first; nulls follow. That makes five files in a table without a key."""


@dataclass(frozen=True)
class Trial:
    """A widening in a column of its own."""

    column: str
    place: str
    widening: Widening

    @property
    def where(self) -> Place:
        """Where in the column the type stands."""
        return PLACES[self.place]

    @property
    def path(self) -> list[str]:
        """Where a change is made."""
        return [self.column, *self.where.path]

    def before(self) -> list[str]:
        """SQL of the values of before, as the new type."""
        return [widened(self.widening, value) for value in extremes(self.widening.before)]


def trials() -> Iterator[Trial]:
    """Every widening of a column. In the other places, only the first of each pair of roots."""
    nested: dict[tuple[str, str], tuple[int, Widening]] = {}
    for number, widening in enumerate(lossless()):
        yield Trial(f"{COLUMN}_{number}", COLUMN, widening)
        nested.setdefault(widening.roots, (number, widening))
    for number, widening in nested.values():
        yield from (Trial(f"{place}_{number}", place, widening) for place in PLACES if place != COLUMN)


_Splits = tuple[Callable[[Trial], object], ...]
_SPLITS: Final[_Splits] = (
    lambda trial: trial.place,
    lambda trial: (trial.place, trial.widening.roots[0]),
    lambda trial: (trial.place, trial.widening.roots),
)
"""What the trials of a table that failed are grouped by, one after the other."""


class WideningProbe:
    """Makes its tables in `lake`."""

    def __init__(self, lake: ProbeLake) -> None:
        self._lake = lake
        self._values = self._evaluated()
        legal = self._legal(list(trials()))
        self._working = {file_format: self._in_format(legal, file_format) for file_format in FORMATS}

    def widenings(self) -> dict[str, dict[str, list[str]]]:
        """Root of a type -> root of a wider one -> file formats, each with all numbers of the types that were tried."""
        found: dict[str, dict[str, list[str]]] = defaultdict(dict)
        for before, after in sorted({widening.roots for widening in lossless()}):
            tried = {t for t in trials() if t.place == COLUMN and t.widening.roots == (before, after)}
            if formats := [name for name, working in self._working.items() if tried <= working]:
                found[before][after] = formats
        return found

    def widens_nested(self) -> bool:
        """Whether every widening that works for a column works in all other places too."""
        return all(self._works_nested(trial, working) for working in self._working.values() for trial in working)

    def _works_nested(self, trial: Trial, working: set[Trial]) -> bool:
        places = {other.place for other in working if other.widening.roots == trial.widening.roots}
        return places == set(PLACES)

    def _evaluated(self) -> dict[str, Any]:
        """SQL text -> value."""
        columns = [trial for trial in trials() if trial.place == COLUMN]
        texts = list({text for t in columns for text in (*t.before(), *extremes(t.widening.after))})
        return dict(zip(texts, self._lake.sql(f"SELECT {', '.join(texts)}")[0], strict=True))

    def _legal(self, tried: Sequence[Trial]) -> list[Trial]:
        """Those that Paimon accepts at all; a refused change would hide all others of a commit."""
        table = self._table(tried, ["k"], {"bucket": "1"})
        return [trial for trial in tried if self._is_accepted(table, trial)]

    def _is_accepted(self, table: ProbeTable, trial: Trial) -> bool:
        try:
            table.alter(self._change(trial))
        except REFUSED:
            return False
        return True

    def _change(self, trial: Trial) -> Any:
        changes = self._lake.jvm.org.apache.paimon.schema.SchemaChange
        field = trial.column if trial.place == COLUMN else self._lake.strings(trial.path)
        return changes.updateColumnType(field, self._lake.data_type(trial.widening.after), True)

    def _in_format(self, legal: Sequence[Trial], file_format: str) -> set[Trial]:
        """Those that work in tables of both kinds. In a table without a key, only columns are tried."""
        working = legal
        for keys, options in _KINDS:
            tried = [trial for trial in working if keys or trial.place == COLUMN]
            right = self._split(tried, keys, {**options, "file.format": file_format}, _SPLITS)
            working = [trial for trial in working if trial in right or trial not in tried]
        return set(working)

    def _split(
        self, tried: Sequence[Trial], keys: Sequence[str], options: Mapping[str, str], splits: _Splits
    ) -> list[Trial]:
        """Those that work, found by one table of all, or by one of each group if that one cannot be read."""
        try:
            return self._right(tried, keys, options)
        except (*REFUSED, RuntimeError):
            groups, finer = _grouped(tried, splits)
            return [each for group in groups for each in self._split(group, keys, options, finer)]

    def _right(self, tried: Sequence[Trial], keys: Sequence[str], options: Mapping[str, str]) -> list[Trial]:
        table = self._table(tried, keys, options)
        self._fill(table, _OLD, [(trial, trial.widening.before) for trial in tried])
        table.alter(*(self._change(trial) for trial in tried))
        self._fill(table, _NEW, [(trial, trial.widening.after) for trial in tried])
        right = self._read(table, tried)
        table.compact()
        return self._read(table, right)

    def _table(self, tried: Sequence[Trial], keys: Sequence[str], options: Mapping[str, str]) -> ProbeTable:
        columns = {trial.column: trial.where.type_of(trial.widening.before) for trial in tried}
        return self._lake.create({"k": "INT NOT NULL", **columns}, keys=keys, options=options)

    def _fill(self, table: ProbeTable, numbers: range, typed: Sequence[tuple[Trial, str]]) -> None:
        columns = [[trial.where.make.format(value) for value in extremes(kind)] for trial, kind in typed]
        rows = [[str(key), *values] for key, *values in zip(numbers, *columns, strict=True)]
        nulls = [[str(numbers.stop + n), *["null"] * len(typed)] for n in range(_NULLS)]
        table.insert(*rows, *nulls)

    def _read(self, table: ProbeTable, tried: Sequence[Trial]) -> list[Trial]:
        """Those whose values of both types are read right. Raises RuntimeError where rows are missing."""
        keys, *read = zip(*table.select(", ".join(["k", *(trial.column for trial in tried)])), strict=True)
        if list(keys) != [number + more for number in (_OLD.start, _NEW.start) for more in range(3 + _NULLS)]:
            raise RuntimeError(f"rows {keys} were read")
        right = [trial for trial, values in zip(tried, read, strict=True) if self._is_right(trial, values)]
        self._find(table, [trial for trial in right if trial.place == COLUMN])
        return right

    def _is_right(self, trial: Trial, values: Sequence[Any]) -> bool:
        return [None if value is None else trial.where.get(value) for value in values] == self._expected(trial)

    def _expected(self, trial: Trial) -> list[Any]:
        before, after = ([self._values[t] for t in texts] for texts in (trial.before(), extremes(trial.widening.after)))
        return [*before, *[None] * _NULLS, *after, *[None] * _NULLS]

    def _find(self, table: ProbeTable, tried: Sequence[Trial]) -> None:
        """Raises RuntimeError if filters on the columns do not find the rows of before. Nested values get no filter."""
        least, middle, greatest = ([trial.before()[row] for trial in tried] for row in range(3))
        for row, sign, values in ((0, "=", least), (2, "=", greatest), (2, ">", middle)):
            self._finds(table, row, [f"{t.column} {sign} {value}" for t, value in zip(tried, values, strict=True)])
        self._finds(table, _OLD.stop, [f"{trial.column} IS NULL" for trial in tried])

    def _finds(self, table: ProbeTable, row: int, conditions: Sequence[str]) -> None:
        if (row,) not in table.select("k", where=" AND ".join(["true", *conditions])):
            raise RuntimeError(f"row {row} is not found by a filter")


def _grouped(tried: Sequence[Trial], splits: _Splits) -> tuple[list[list[Trial]], _Splits]:
    """The groups of the first split that makes several, and the finer splits. None, if no split does."""
    for number, split in enumerate(splits, 1):
        groups: dict[object, list[Trial]] = defaultdict(list)
        for trial in tried:
            groups[split(trial)].append(trial)
        if len(groups) > 1:
            return list(groups.values()), splits[number:]
    return [], ()
