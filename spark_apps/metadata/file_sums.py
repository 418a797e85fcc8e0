"""Sums over data files, by bucket and level.

An entry that removes a file repeats all that is known of it. So added minus removed is exact without a list of the
files, whatever the order of the entries, and takes memory for the buckets alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from spark_apps.metadata.avro import Record
from spark_apps.metadata.base import UnreadableError

BucketLevel = tuple[bytes, int, int]
"""Partition (a serialized BinaryRow), bucket and level."""
SIGNS: Final = {0: 1, 1: -1}
"""FileKind: ADD and DELETE."""


class FileSums(NamedTuple):
    """What is summed of data files."""

    files: int
    bytes: int
    rows: int
    small_files: int
    delete_rows: int
    """Rows that say that a key was deleted."""
    uncounted_files: int
    """Files whose writer has not counted its delete rows."""


Sums = Mapping[BucketLevel, FileSums]
_NOTHING: Final = FileSums(0, 0, 0, 0, 0, 0)


def sums_of(entries: Iterable[Record], small_below: int) -> dict[BucketLevel, FileSums]:
    """The sums of manifest entries. A file of less than `small_below` bytes is small."""
    totals: defaultdict[BucketLevel, list[int]] = defaultdict(lambda: [0] * len(_NOTHING))
    for entry in entries:
        sign, file = SIGNS[entry["_KIND"]], entry["_FILE"]
        size, deleted = file["_FILE_SIZE"], file.get("_DELETE_ROW_COUNT")
        total = totals[entry["_PARTITION"], entry["_BUCKET"], file["_LEVEL"]]
        total[0] += sign
        total[1] += sign * size
        total[2] += sign * file["_ROW_COUNT"]
        if size < small_below:
            total[3] += sign
        if deleted is None:
            total[5] += sign
        elif deleted:
            total[4] += sign * deleted
    return {key: FileSums(*total) for key, total in totals.items()}


def plus(sums: Sums, more: Sums, sign: int = 1) -> dict[BucketLevel, FileSums]:
    """The sums with those of `more` added, or with sign -1 subtracted. Buckets without a file are left out."""
    result = dict(sums)
    for key, change in more.items():
        total = FileSums(*(a + sign * b for a, b in zip(result.get(key, _NOTHING), change, strict=True)))
        if total == _NOTHING:
            result.pop(key, None)
        else:
            result[key] = total
    return result


def total_of(sums: Sums) -> FileSums:
    """The sums of the table."""
    return FileSums(*map(sum, zip(*sums.values(), strict=True))) if sums else _NOTHING


def require_possible(sums: Sums) -> None:
    """Raises UnreadableError for sums that no files can have: a file was removed that was never added."""
    if any(min(each) < 0 or each.files == 0 for each in sums.values()):
        raise UnreadableError("the manifests remove a file that they do not add")
