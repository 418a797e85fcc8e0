"""Finds orphans: old files of known kinds that no reference names.

The files are listed first, and the references are read afterwards. So a file that is committed in between is found
referenced. At most MAX_FILES old files are held in memory, at about 400 bytes each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from spark_apps.metadata.base import UnreadableError
from spark_apps.orphans.files import ListedFile
from spark_apps.orphans.kinds import CAN_BE_ORPHAN, Kind, Layout

MAX_FILES: Final = 1_000_000
"""Old files of a table that one run compares with the references: about 400 MB of memory."""
MAX_UNKNOWN: Final = 1_000
"""Unknown files that are listed by name. All are counted."""


@dataclass(frozen=True, order=True)
class Orphan:
    """An old file of a known kind that nothing names."""

    file: ListedFile
    kind: Kind


@dataclass
class Survey:
    """The files of a table's directory, by what they can be."""

    files: int = 0
    """Files of Paimon's, also those that are too young."""
    old: dict[str, list[Orphan]] = field(default_factory=lambda: defaultdict(list))
    """Name -> the old files of that name that can be orphans."""
    unknown: list[ListedFile] = field(default_factory=list)
    """The first by their path."""
    unknown_count: int = 0
    unknown_bytes: int = 0

    def orphans(self, referenced: Collection[str]) -> Iterator[Orphan]:
        """The old files that none of these names protects, by their path."""
        left = (each for name, found in self.old.items() if name not in referenced for each in found)
        yield from sorted(left, key=lambda each: each.file.path)


def survey(listing: Iterable[ListedFile], layout: Layout, modified_before_ms: int) -> Survey:
    """What is listed. Only files that were modified before this time can be orphans. Raises UnreadableError."""
    found, old = Survey(), 0
    for file in listing:
        kind = layout.kind_of(file.path)
        if kind is Kind.UNKNOWN:
            _note_unknown(found, file)
            continue
        found.files += 1
        if kind in CAN_BE_ORPHAN and file.modified_ms < modified_before_ms:
            found.old[file.name].append(Orphan(file, kind))
            old += 1
        if old > MAX_FILES:
            raise UnreadableError(f"it has more than {MAX_FILES} old files, which is more than one run compares")
    found.unknown.sort()
    del found.unknown[MAX_UNKNOWN:]
    return found


def _note_unknown(found: Survey, file: ListedFile) -> None:
    found.unknown_count += 1
    found.unknown_bytes += file.size
    found.unknown.append(file)
    if len(found.unknown) > 2 * MAX_UNKNOWN:
        found.unknown.sort()
        del found.unknown[MAX_UNKNOWN:]
