"""What a write has loaded: a directory with one entry per attempt, so that no file is loaded twice or forgotten.

  <run>-<uid>-<n>.json        written before the commit: the files, and the latest snapshot at that moment
  <run>-<uid>-<n>.committed   beside it once the commit is known to be in the table
  <run>-<uid>-<n>.abandoned   beside it once the commit is known not to be there
  folded-<n>.json             many committed entries in one file, or reading the ledger would take ever longer

Nothing is ever overwritten, so a crash leaves at worst an entry without a marker. Such an entry is resolved by asking
Paimon (write.py). Entries of a table that was dropped and made again carry another `table` and do not count.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from spark_apps.files import InputFile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spark_apps.session import Session

FOLD_AFTER = 50
"""Committed entries that may gather before they are folded."""

COMMITTED, ABANDONED = ".committed", ".abandoned"


@dataclass(frozen=True)
class Entry:
    """One attempt at loading `files`. `table` is the creation time of the table in ms, `snapshot_before` 0 for none."""

    name: str
    table: int
    hash: str
    commit_user: str
    snapshot_before: int
    files: tuple[InputFile, ...]
    snapshot: int | None = None


class Ledger:
    """The ledger of one write, kept through Paimon's file system, as the table's own files are."""

    def __init__(self, session: Session, directory: str, table: int) -> None:
        self._session = session
        self._directory = directory.rstrip("/")
        self._table = table
        self._files = session.file_io(session.path(self._directory))
        self._names = self._list()
        self._folded = [self._read(name) for name in self._names if name.startswith("folded-")]

    @property
    def open_entries(self) -> list[Entry]:
        """Entries of this table whose outcome is not known, oldest name first."""
        return [entry for entry in map(self._entry, self._unmarked()) if entry.table == self._table]

    @property
    def committed_entries(self) -> list[Entry]:
        """Entries of this table that are in it and not folded."""
        names = [name.removesuffix(COMMITTED) for name in self._names if name.endswith(COMMITTED)]
        entries = [self._entry(name) for name in names if name + ".json" in self._names]
        return [entry for entry in entries if entry.table == self._table]

    def loaded(self) -> set[InputFile]:
        """Every file, in every version, that is in the table."""
        folded = (InputFile(*each) for document in self._current_folded() for each in document["files"])
        return {file for entry in self.committed_entries for file in entry.files} | set(folded)

    def loaded_hashes(self) -> set[str]:
        """The hashes of the writes that have committed."""
        folded = {each for document in self._current_folded() for each in document["hashes"]}
        return {entry.hash for entry in self.committed_entries} | folded

    def begin(self, run: str, entry_hash: str, commit_user: str, before: int, files: Iterable[InputFile]) -> Entry:
        """Records the intent to load `files`; must be called before the commit."""
        number = 1
        while f"{run}-{number}.json" in self._names:
            number += 1
        entry = Entry(f"{run}-{number}", self._table, entry_hash, commit_user, before, tuple(files))
        document = {**asdict(entry), "files": [[f.path, f.size, f.version] for f in entry.files]}
        self._write(entry.name + ".json", document)
        return entry

    def mark_committed(self, entry: Entry, snapshot: int | None) -> None:
        """Records that the entry's rows are in the table; None when its files held no row."""
        self._write(entry.name + COMMITTED, {"snapshot": snapshot})

    def mark_abandoned(self, entry: Entry) -> None:
        """Records that the entry's rows are not in the table and never will be by this entry."""
        self._write(entry.name + ABANDONED, {})

    def fold(self, keep: Entry) -> None:
        """Puts committed entries into one file, then removes them; entry before marker, lest one look unmarked.

        `keep` stays, so that a retry of its run finds that it has committed.
        """
        entries = [entry for entry in self.committed_entries if entry.name != keep.name]
        if len(entries) < FOLD_AFTER:
            return
        old = [name for name in self._names if name.startswith("folded-")]
        number = max((int(name.removeprefix("folded-").removesuffix(".json")) for name in old), default=0) + 1
        files = sorted(self.loaded())
        self._write(
            f"folded-{number}.json",
            {
                "table": self._table,
                "files": [[f.path, f.size, f.version] for f in files],
                "hashes": sorted(self.loaded_hashes()),
            },
        )
        for name in [*(e.name + ".json" for e in entries), *(e.name + COMMITTED for e in entries), *old]:
            self._files.delete(self._path(name), False)

    def marker_paths(self, entry: Entry) -> tuple[str, str]:
        """Where a person may put the marker that this code could not decide on: (committed, abandoned)."""
        return (f"{self._directory}/{entry.name}{COMMITTED}", f"{self._directory}/{entry.name}{ABANDONED}")

    def _unmarked(self) -> list[str]:
        names = (name.removesuffix(".json") for name in self._names if name.endswith(".json"))
        marked = {
            name.removesuffix(end) for name in self._names for end in (COMMITTED, ABANDONED) if name.endswith(end)
        }
        return sorted(name for name in names if not name.startswith("folded-") and name not in marked)

    def _current_folded(self) -> list[dict[str, Any]]:
        return [document for document in self._folded if document["table"] == self._table]

    def _entry(self, name: str) -> Entry:
        document = self._read(name + ".json")
        files = tuple(InputFile(*each) for each in document.pop("files"))
        return Entry(files=files, **document)

    def _list(self) -> set[str]:
        directory = self._session.path(self._directory)
        if not self._files.exists(directory):
            return set()
        return {status.getPath().getName() for status in self._files.listStatus(directory)}

    def _read(self, name: str) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self._files.readFileUtf8(self._path(name)))
        return document

    def _write(self, name: str, document: dict[str, Any]) -> None:
        text = json.dumps(document, separators=(",", ":"))
        if not self._files.tryToWriteAtomic(self._path(name), text):
            raise FileExistsError(f"{self._directory}/{name} exists already: is another run of this table active?")
        self._names.add(name)

    def _path(self, name: str) -> Any:
        return self._session.path(f"{self._directory}/{name}")
