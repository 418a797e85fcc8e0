"""Kinds of tables by their writers: when these commit, how many rows, and which partitions and buckets they touch."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

DAY: Final = 24 * 3600
HOUR: Final = 3600
PARTITIONS: Final = 48
"""Of the tables with many."""
Place = tuple[str, int]
"""A partition and a bucket. A table without partitions has the partition ""."""
_COLUMNS: Final = [{"name": "id", "type": "BIGINT"}, {"name": "v", "type": "INT"}]
_BY_PART: Final = [{"name": "part", "type": "STRING"}, *_COLUMNS]


@dataclass(frozen=True)
class Kind:
    """What tables of one kind have in common. The functions draw all that is random from `dice`."""

    name: str
    seconds: Callable[[random.Random], Iterator[float]]
    """Seconds after midnight of the commits of a day."""
    rows: tuple[int, int]
    """Least and most rows of a file."""
    partitions: Callable[[random.Random, float], list[str]] = lambda *_: [""]
    """The partitions that a commit at this second touches."""
    buckets: int | None = 2
    """Buckets of each partition; None: a table without a key."""
    first: tuple[str, ...] = ("",)
    """Partitions that hold rows at midnight."""

    @property
    def has_key(self) -> bool:
        """Whether the tables have a primary key."""
        return self.buckets is not None

    @property
    def schema(self) -> dict[str, Any]:
        """`spec.schema` of the manifests."""
        if self.first == ("",):
            return {"columns": _COLUMNS} | ({"primaryKeys": ["id"]} if self.has_key else {})
        return {"columns": _BY_PART, "partitionKeys": ["part"], "primaryKeys": ["part", "id"]}

    @property
    def bucket(self) -> dict[str, Any]:
        """`spec.bucket` of the manifests."""
        return {"type": "Unaware"} if self.buckets is None else {"type": "Fixed", "fixed": {"count": self.buckets}}

    def places(self, dice: random.Random, second: float) -> tuple[Place, ...]:
        """The partitions and buckets of a commit: at least one bucket of each partition."""
        found: list[Place] = []
        for partition in self.partitions(dice, second):
            numbers = range(self.buckets or 1)
            touched = [number for number in numbers if dice.random() < 0.8] or [dice.choice(numbers)]
            found += [(partition, number) for number in touched]
        return tuple(found)

    def first_places(self) -> tuple[Place, ...]:
        """The buckets that hold rows at midnight."""
        return tuple((partition, number) for partition in self.first for number in range(self.buckets or 1))


def _steady(dice: random.Random, least: float, most: float) -> Iterator[float]:
    """A commit about every so many seconds, the same all day."""
    period = dice.uniform(least, most)
    second = dice.uniform(0, period)
    while second < DAY:
        yield second
        second += period * dice.uniform(0.8, 1.2)


def _trickle(dice: random.Random) -> Iterator[float]:
    return _steady(dice, 60, 600)


def _bursts(dice: random.Random) -> Iterator[float]:
    """Three to eight times a day, 15 to 60 commits in quick succession."""
    for _ in range(dice.randint(3, 8)):
        second = dice.uniform(0, DAY - HOUR)
        for _ in range(dice.randint(15, 60)):
            yield second
            second += dice.uniform(5, 25)


def _hardly_ever(dice: random.Random) -> Iterator[float]:
    """At most three commits a day."""
    return (dice.uniform(0, DAY) for _ in range(dice.randint(0, 3)))


def _nightly(dice: random.Random) -> Iterator[float]:
    """One load between one and three o'clock, of 5 to 30 commits, and one at noon of a few."""
    for hour, commits in ((dice.uniform(1, 3), dice.randint(5, 30)), (12, dice.randint(0, 3))):
        second = hour * HOUR
        for _ in range(commits):
            yield second
            second += dice.uniform(20, 90)


def _append(dice: random.Random) -> Iterator[float]:
    return _steady(dice, 120, 1200)


def _partitioned(dice: random.Random) -> Iterator[float]:
    return _steady(dice, 120, 900)


def _few_partitions(dice: random.Random, second: float) -> list[str]:
    """Up to four, among which the later ones of the day are more frequent."""
    newest = int(second / DAY * PARTITIONS)
    return sorted({part_name(max(newest - int(dice.expovariate(0.2)), 0)) for _ in range(dice.randint(1, 4))})


def part_name(number: int) -> str:
    """The value of a partition of a table with many."""
    return f"p{number:02}"


_ALL: Final = (
    Kind("idle", _hardly_ever, (1_000, 20_000), buckets=1),
    Kind("trickle", _trickle, (500, 20_000)),
    Kind("bursts", _bursts, (500, 5_000)),
    Kind("nightly", _nightly, (100_000, 500_000), buckets=4),
    Kind(
        "partitions",
        _partitioned,
        (500, 10_000),
        _few_partitions,
        first=tuple(part_name(number) for number in range(PARTITIONS)),
    ),
    Kind("append", _append, (1_000, 50_000), buckets=None),
)
KINDS: Final = {each.name: each for each in _ALL}
_I, _T, _B, _N, _P, _A = (each.name for each in _ALL)
PATTERN: Final = (_I, _T, _I, _B, _P, _I, _A, _I, _T, _N, _I, _P, _I, _T, _B, _I, _A, _I, _T, _I, _N, _I, _T, _P, _B)
"""Kinds of 25 tables in a row: ten are idle, as most tables of a lake."""
