"""Which tags an ExpireSnapshots leaves: a tag for each hour with a commit, which has the name of the hour before."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta

_HOUR_MS = 3_600_000


def is_automatic(tag: str) -> bool:
    """Whether the tag was created automatically."""
    return tag[0].isdigit()


def tags_after(
    tags: Mapping[str, int], committed: Mapping[int, int], snapshots: Collection[int], most: int
) -> dict[str, int]:
    """Tag -> its snapshot, after those that are due of these snapshots are created, of which `most` stay.

    `committed`: snapshot -> when it was committed, in ms.
    """
    found = dict(tags)
    last = max((id_ for name, id_ in tags.items() if is_automatic(name)), default=0)
    for id_ in sorted(each for each in snapshots if each > last):
        if last == 0 or committed[id_] // _HOUR_MS > committed[last] // _HOUR_MS:
            found.setdefault(_name(committed[id_]), id_)
            last = id_
            automatic = sorted((each for each in found if is_automatic(each)), key=lambda name: found[name])
            for each in automatic[:-most]:
                del found[each]
    return found


def _name(committed: int) -> str:
    return f"{datetime.fromtimestamp(committed / 1000, UTC) - timedelta(hours=1):%Y-%m-%d %H}"
