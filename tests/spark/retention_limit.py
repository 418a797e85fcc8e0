"""Times around a limit of the retention, for runs whose clock cannot be stopped.

What has passed its limit before the run goes. What has not passed it when the run has ended stays. Only what passes it
in between may do either. So a slow machine makes a test less sharp, and never makes it fail.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tests.spark.lake import Lake

DAY: Final = 86_400
SECONDS_LEFT: Final = (-60, -1, -0.001, 2, 4, 8, 16, 32, 64, 128, 1_800)
"""Seconds until each thing passes its limit. The last one is beyond the timeout of a test."""


@dataclass(frozen=True)
class Limit:
    """Things on both sides of a limit. The oldest is number 1, as with snapshots."""

    retained_s: int
    """What is older than this goes."""
    resolution_s: float = 0.001
    """The unit in which the engine compares."""
    earlier: int = 0
    """More things, which have passed the limit for hours."""
    began: float = field(default_factory=time.time)

    @property
    def count(self) -> int:
        """The number of things."""
        return self.earlier + len(SECONDS_LEFT)

    @property
    def times(self) -> dict[int, float]:
        """When each thing was made, in seconds since 1970."""
        return {number: self.began - self.retained_s + left for number, left in self._left.items()}

    @property
    def _left(self) -> dict[int, float]:
        long_ago = [-float(DAY + number) for number in range(self.earlier, 0, -1)]
        return dict(enumerate([*long_ago, *SECONDS_LEFT], start=1))

    def check(self, kept: Iterable[int]) -> None:
        """Compares what a run has kept that has just ended. Numbers of other things do not count."""
        lasted = time.time() - self.began
        found = {each for each in kept if each <= self.count}
        due = {number for number, left in self._left.items() if left <= -self.resolution_s}
        young = {number for number, left in self._left.items() if left > lasted + self.resolution_s}
        assert not found & due, "what had passed its limit before the run is gone"
        assert found >= young, f"what had not passed its limit after {lasted:.1f} s stays"
        assert found == set(range(min(found), self.count + 1)), "what goes is older than what stays"


def set_time(lake: Lake, kind: str, number: int, made: float) -> None:
    """Sets when a snapshot or a changelog was made."""
    file = lake.table_directory / kind / f"{kind}-{number}"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"timeMillis": int(made * 1000)}))


def create_tag(tag: Path, number: int, made: float) -> None:
    """Copies a tag, as if the copy was created then. Paimon stores the time by the clock of the JVM, which is UTC."""
    at = datetime.fromtimestamp(made, UTC)
    parts = [at.year, at.month, at.day, at.hour, at.minute, at.second, 1000 * at.microsecond]
    copied = json.loads(tag.read_text()) | {"tagCreateTime": parts}
    tag.with_name(f"tag-{number}").write_text(json.dumps(copied))


def create_consumer(lake: Lake, number: int, made: float, *, next_snapshot: int = 1) -> Path:
    """Creates a consumer that made its last progress then. By default it has read nothing yet."""
    file = lake.table_directory / "consumer" / f"consumer-{number}"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"nextSnapshot": next_snapshot}))
    os.utime(file, (made, made))
    return file


def write_twice(lake: Lake) -> None:
    """Makes as many changelogs without a snapshot as a limit has times, and then as many snapshots and one more."""
    count = len(SECONDS_LEFT)
    lake.outside(*["INSERT INTO outside.shop.orders VALUES (1)"] * (count + 1))
    lake.expire(timeRetained="1 ms", numRetainedMin=1).ok()
    lake.outside(*["INSERT INTO outside.shop.orders VALUES (1)"] * count)


def place_all(lake: Lake, retained_s: Mapping[str, int]) -> dict[str, Limit]:
    """Places what `write_twice` has made, consumers, and copies of the table's one tag around the limit of each kind.

    The consumers hold no snapshot.
    """
    limits = {kind: Limit(seconds) for kind, seconds in retained_s.items()}
    (tag,) = (lake.table_directory / "tag").glob("tag-*")
    for number in range(1, len(SECONDS_LEFT) + 1):
        made = {kind: limit.times[number] for kind, limit in limits.items()}
        set_time(lake, "changelog", number, made["changelog"])
        set_time(lake, "snapshot", len(SECONDS_LEFT) + number, made["snapshot"])
        create_consumer(lake, number, made["consumer"], next_snapshot=1_000)
        create_tag(tag, number, made["tag"])
    return limits


def check_all(lake: Lake, limits: Mapping[str, Limit]) -> None:
    """Compares what a run has kept that has just ended."""
    for kind, limit in limits.items():
        files = (lake.table_directory / kind).glob(f"{kind}-[0-9]*")
        texts = [each.name.removeprefix(f"{kind}-") for each in files]
        first = len(SECONDS_LEFT) if kind == "snapshot" else 0
        kept = [int(text) - first for text in texts if text.isdecimal()]
        limit.check(number for number in kept if number > 0)
