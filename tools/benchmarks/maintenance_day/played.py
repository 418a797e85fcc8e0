"""What became of the tables of the day that were played on real Spark.

`tests/spark/test_maintenance_day.py` keeps the figures of each table in `build/played-day`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

_ROOT: Final = Path(__file__).resolve().parents[3]
TABLES: Final = 10
"""How many tables the test plays."""
_KEPT: Final = _ROOT / "build" / "played-day"
_HEAD: Final = ("table", "engine", "writes", "ticks", "Spark runs", "no-ops", "worst", "may have")


@dataclass(frozen=True, kw_only=True)
class Played:
    """One table."""

    date: str
    commit: str
    """Of the checkout that played it."""
    table: str
    engine: str
    seed: int
    hours: int
    writes: int
    """Commits of other programs."""
    ticks: int
    """Ticks of its most frequent schedule: the Spark runs of fixed cron."""
    runs: int
    no_ops: int
    worst: int
    """The most sorted runs of a bucket, or files without a key, as `$files` showed them."""
    bound: int
    """The threshold and what a bucket receives within one interval."""


def keep(played: Played, directory: Path = _KEPT) -> None:
    """Keeps the figures of one table until all are recorded."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / f"{played.table}.json").write_text(json.dumps(asdict(played)))


def kept(directory: Path = _KEPT) -> list[Played]:
    """All that are kept. Raises ValueError unless one commit has played them, as many as the test has."""
    found = [Played(**json.loads(file.read_text())) for file in sorted(directory.glob("*.json"))]
    calls = {(each.commit, each.seed, each.hours) for each in found}
    if found and (len(calls) > 1 or len(found) != TABLES):
        raise ValueError(f"{directory} has {len(found)} of {TABLES} tables, of {len(calls)} calls: play them again")
    return found


def section(lines: Sequence[dict[str, Any]]) -> list[str]:
    """The part of the page; nothing without lines."""
    if not lines:
        return []
    first = lines[0]
    found = [Played(**line) for line in lines]
    head = f"Seed {first['seed']}, the first {first['hours']} hours (commit {first['commit']}, {first['date']}):"
    ticks, runs, no_ops = (sum(getattr(each, name) for each in found) for name in ("ticks", "runs", "no_ops"))
    said = (
        f"Fixed cron starts {ticks} Spark runs for these tables, and the operator {runs}, of which {no_ops} are no-ops."
    )
    return ["## Tables on real Spark\n", f"{_MEANING}\n{head}\n", _table(found), f"{said}\n"]


_MEANING: Final = """\
The decisions of the operator on a virtual clock, with real commits and real drivers. "Worst" is what Paimon's `$files`
shows of the worst bucket before a decision. It "may have" its threshold and what it receives within one interval. After
each run, pypaimon reads every row that was written.
"""


def _table(found: Sequence[Played]) -> str:
    rows = [
        (each.table, each.engine, *map(str, (each.writes, each.ticks, each.runs, each.no_ops, each.worst, each.bound)))
        for each in found
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in (_HEAD, ("---",) * len(_HEAD), *rows))
