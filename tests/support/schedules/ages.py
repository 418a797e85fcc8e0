"""The ages of what expires by time. Paimon takes them from its files and from the clock of its JVM, which stands still.

So snapshots have the times of the schedule's clock, by which tags are created. That clock is ahead of the JVM's, for
which they are young. Tags, consumers and changelogs are made as old for the JVM as they are in the schedule.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.support.schedules.reachable import TableTree


@dataclass
class Ages:
    """When the files of a table were made, in ms of the schedule's clock."""

    tree: TableTree
    committed: dict[int, int] = field(default_factory=dict)
    """Snapshot -> when it was committed."""
    _made: dict[Path, int] = field(default_factory=dict)
    """Tag or consumer -> when it was made."""

    def note(self, now_ms: int) -> None:
        """Dates what is new."""
        for id_ in self.tree.snapshots():
            if id_ not in self.committed:
                self.committed[id_] = now_ms
                _edit(self.tree.snapshot_directory / f"snapshot-{id_}", timeMillis=now_ms)
        found = [path for kind in ("tag", "consumer") for path in self.tree.root.glob(f"{kind}/{kind}-*")]
        self._made = {each: self._made.get(each, now_ms) for each in found}

    def renew(self, consumer: str, now_ms: int) -> None:
        """The consumer makes progress."""
        self._made[self._path("consumer", consumer)] = now_ms

    def show(self, now_ms: int) -> None:
        """Makes tags, consumers and changelogs as old for the JVM as they are for the schedule."""
        now = time.time()
        for path, made in self._made.items():
            at = now - (now_ms - made) / 1000
            if path.parent.name == "consumer":
                os.utime(path, (at, at))
            else:
                _edit(path, tagCreateTime=[*datetime.fromtimestamp(at, UTC).timetuple()[:6]])
        for id_ in self.tree.changelogs():
            at = now - (now_ms - self.committed[id_]) / 1000
            _edit(self._path("changelog", str(id_)), timeMillis=int(1000 * at))

    def older(self, kind: str, than: timedelta, now_ms: int) -> set[str]:
        """The names of the tags or consumers that are older."""
        found = {path.name.partition("-")[2]: made for path, made in self._made.items() if path.parent.name == kind}
        return {name for name, made in found.items() if now_ms - made > than / timedelta(milliseconds=1)}

    def first_younger(self, than: timedelta, now_ms: int) -> int:
        """The first snapshot that is not older, or else the last one."""
        limit = now_ms - than / timedelta(milliseconds=1)
        return min((id_ for id_, at in self.committed.items() if at >= limit), default=max(self.committed))

    def _path(self, kind: str, name: str) -> Path:
        return self.tree.root / kind / f"{kind}-{name}"


def _edit(file: Path, **changes: Any) -> None:
    """Changes those of the members that the file has."""
    content = json.loads(file.read_text())
    file.write_text(json.dumps(content | {key: value for key, value in changes.items() if key in content}))
