"""Reports: what each run has found, as JSON Lines in the operator's own directory beside the table.

  <storage's time in ms>-<run>-<uid>.jsonl    a header, then one line for each orphan, then the first unknown files

A report is written as a whole or not at all, and never changed. Its header says how many lines it has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any, Final

from spark_apps.metadata.base import UnreadableError
from spark_apps.orphans.files import ListedFile, StorageFiles
from spark_apps.orphans.finder import Orphan, Survey
from spark_apps.orphans.kinds import Kind
from spark_apps.orphans.times import Moment
from spark_apps.progress import log_step

VERSION: Final = 1
MAX_LISTED: Final = 100_000
"""Orphans that one report lists, the first by their path. All are counted."""
MAX_REPORT_BYTES: Final = 256 << 20
"""Bytes of a report that is read: 100,000 lines with the longest paths of S3."""
KEPT_PER_AGE: Final = 4
"""Reports that are kept for each `olderThan` that passes."""
_NAME: Final = re.compile(r"([0-9]{13,15})-[a-z0-9-]{1,120}\.jsonl")
_WHY: Final = {
    Kind.TEMPORARY: "a writer left it before it was finished",
    **dict.fromkeys(
        (Kind.DATA, Kind.MANIFEST, Kind.INDEX, Kind.STATISTICS), "no snapshot, changelog, tag or branch names it"
    ),
}
_UNKNOWN: Final = "Paimon puts no file of this name there; it is never touched"


@dataclass(frozen=True, kw_only=True)
class Header:
    """The first line of a report. Of orphans and unknown files it has the numbers and bytes of all."""

    version: int = VERSION
    run: str
    table: str
    storage_ms: int
    driver_ms: int
    older_than_seconds: int
    files: int
    orphans: int
    orphan_bytes: int
    listed: int
    """Lines of orphans."""
    unknown: int
    unknown_bytes: int
    unknown_listed: int
    """Lines of unknown files."""

    @property
    def moment(self) -> Moment:
        """When the files were listed."""
        return Moment(self.storage_ms, self.driver_ms)


@dataclass(frozen=True)
class Reports:
    """The reports in one directory."""

    files: StorageFiles
    directory: str

    def names(self) -> list[str]:
        """Their names, oldest first."""
        names = (each for each in self.files.names(self.directory) if _NAME.fullmatch(each))
        return sorted(names, key=_time_of)

    def write(self, header: Header, uid: str, orphans: Sequence[Orphan], unknown: Sequence[ListedFile]) -> str:
        """Writes a report and returns its path."""
        lines = [asdict(header), *(_line(each, header) for each in orphans[:MAX_LISTED])]
        lines += [_unknown_line(each, header) for each in unknown]
        text = "".join(f"{json.dumps(line, ensure_ascii=True)}\n" for line in lines)
        path = f"{self.directory}/{header.storage_ms:013d}-{header.run}-{uid}.jsonl"
        self.files.write(path, text.encode())
        return path

    def header(self, name: str) -> Header:
        """The header of a report. Raises UnreadableError for a report of another release, or a damaged one."""
        return self._read(name)[0]

    def earlier(self, before: Moment, older_than_ms: int) -> str | None:
        """The newest report that is at least this much older, of those that are whole; None: there is none."""
        old = (each for each in reversed(self.names()) if before.storage_ms - _time_of(each) >= older_than_ms)
        return next((each for each in old if self._age(each, before) >= older_than_ms), None)

    def _age(self, name: str, now: Moment) -> int:
        try:
            return now.since(self.header(name).moment)
        except UnreadableError as error:
            log_step(f"a report is not compared: {error}")
            return -1

    def listed(self, name: str) -> Iterator[ListedFile]:
        """The orphans that a report lists."""
        header, lines = self._read(name)
        for line in lines[: header.listed]:
            yield ListedFile(line["path"], line["size"], line["modifiedMs"])

    def thin(self, now: Moment, older_than_ms: int) -> None:
        """Removes reports that no later run can need."""
        for name in unneeded(self.names(), now.storage_ms, older_than_ms):
            self.files.delete(f"{self.directory}/{name}")

    def _read(self, name: str) -> tuple[Header, list[dict[str, Any]]]:
        path = f"{self.directory}/{name}"
        content = self.files.read(path, MAX_REPORT_BYTES)
        try:
            first, *lines = [json.loads(line) for line in (content or b"").splitlines()]
            header = Header(**{each.name: first[each.name] for each in fields(Header)})
            if header.version != VERSION or len(lines) != header.listed + header.unknown_listed:
                raise ValueError(f"version {header.version}, {len(lines)} lines")  # noqa: TRY301
        except (ValueError, KeyError, TypeError) as error:
            raise UnreadableError(f"{path} is no whole report of version {VERSION}: {error}") from error
        return header, lines


def unneeded(names: Sequence[str], now_ms: int, older_than_ms: int) -> list[str]:
    """Of the names, oldest first: reports before the newest one that is old enough to compare with, and most of those
    that lie close together."""
    old = [each for each in names if now_ms - _time_of(each) >= older_than_ms]
    left = [*old[-1:], *names[len(old) :]]
    kept: list[str] = []
    for each in left:
        is_close = len(kept) > 1 and _time_of(each) - _time_of(kept[-2]) < older_than_ms // KEPT_PER_AGE
        if is_close:
            kept.pop()
        kept.append(each)
    return [each for each in names if each not in set(kept)]


def header_of(
    survey: Survey, orphans: Sequence[Orphan], at: Moment, *, run: str, table: str, older_than_seconds: int
) -> Header:
    """The header for what a survey has found."""
    return Header(
        run=run,
        table=table,
        storage_ms=at.storage_ms,
        driver_ms=at.driver_ms,
        older_than_seconds=older_than_seconds,
        files=survey.files,
        orphans=len(orphans),
        orphan_bytes=sum(each.file.size for each in orphans),
        listed=min(len(orphans), MAX_LISTED),
        unknown=survey.unknown_count,
        unknown_bytes=survey.unknown_bytes,
        unknown_listed=len(survey.unknown),
    )


def _time_of(name: str) -> int:
    return int(name.partition("-")[0])


def _line(orphan: Orphan, header: Header) -> dict[str, Any]:
    return _file(orphan.file, header) | {"kind": orphan.kind.value, "why": _WHY[orphan.kind]}


def _unknown_line(file: ListedFile, header: Header) -> dict[str, Any]:
    return _file(file, header) | {"kind": Kind.UNKNOWN.value, "why": _UNKNOWN}


def _file(file: ListedFile, header: Header) -> dict[str, Any]:
    at = datetime.fromtimestamp(file.modified_ms / 1000, UTC).isoformat(timespec="seconds")
    age = max(header.moment.earliest_ms - file.modified_ms, 0) // 1000
    times = {"modified": at.replace("+00:00", "Z"), "modifiedMs": file.modified_ms, "ageSeconds": age}
    return {"path": file.path, "size": file.size, **times}
