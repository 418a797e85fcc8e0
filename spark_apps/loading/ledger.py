"""The files that a write has loaded: a directory with one entry per attempt, so that each file is loaded once.

  <run>-<uid>-<n>.json        written before the commit: the files, and the latest snapshot at that moment
  <run>-<uid>-<n>.committed   beside it once the commit is known to be in the table, with its snapshots
  <run>-<uid>-<n>.abandoned   beside it once the commit is known not to be there
  folded-<n>.json             many committed entries in one file; without it, reading the ledger would take ever longer

Nothing is ever overwritten, so a crash leaves at worst an entry without a marker. Such an entry is resolved by Paimon's
snapshots (recovery.py). Entries of a table that was dropped and recreated have another `table` and do not count.
Unknown keys are from a newer image, which ran before a downgrade: they are ignored.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from paimon_contract.job import Job
from paimon_contract.parameters.write import WriteParameters
from spark_apps.catalog.session import Session
from spark_apps.catalog.snapshots import Commit
from spark_apps.failures.causes import is_caused_by
from spark_apps.loading.input_files import InputFile

FOLD_AFTER = 50
"""Committed entries above which they are folded."""

NO_LEDGER: Final = "_"
"""Beginning of other directories beside the ledgers. No write has such a name."""

COMMITTED, ABANDONED = ".committed", ".abandoned"


def ledgers_of(job: Job) -> str:
    """The directory that holds the ledgers of all writes of the job's table, each in a directory of its own."""
    return f"{job.catalog.warehouse.rstrip('/')}/.paimon-operator/{job.table}"


@dataclass(frozen=True)
class Entry:
    """One attempt at loading `files`. `table` is the creation time of the table in ms, `snapshot_before` 0 for none.

    `once` states whether the hash counts as done. Entries without the field predate it and count as done.
    """

    name: str
    table: int
    hash: str
    commit_user: str
    snapshot_before: int
    files: tuple[InputFile, ...]
    once: bool = True

    @property
    def run(self) -> str:
        """Name and UID of the run, which all its attempts share."""
        return self.name.rpartition("-")[0]


class Ledger:
    """The ledger of one write, on Paimon's file system, like the table's own files."""

    def __init__(self, session: Session, directory: str, table: int) -> None:
        self._session = session
        self._directory = directory.rstrip("/")
        self.name = self._directory.rpartition("/")[2]
        self._table = table
        self._files = session.file_io(session.path(self._directory))
        self._names = self._list()
        self._entry = functools.cache(self._read_entry)  # an entry never changes

    @property
    def open_entries(self) -> list[Entry]:
        """Entries of this table whose outcome is not known, oldest name first."""
        return [entry for entry in map(self._entry, self._unmarked()) if entry.table == self._table]

    @property
    def committed_entries(self) -> list[Entry]:
        """Entries of this table that are in it and not folded."""
        entries = [self._entry(name) for name in sorted(self._marked(COMMITTED)) if name + ".json" in self._names]
        return [entry for entry in entries if entry.table == self._table]

    def attempts(self, run: str) -> list[Entry]:
        """The entries of `run`, whatever their outcome."""
        names = (name.removesuffix(".json") for name in self._names if name.endswith(".json"))
        entries = [self._entry(name) for name in names if name.rpartition("-")[0] == run]
        return [entry for entry in entries if entry.table == self._table]

    def loaded(self) -> set[InputFile]:
        """Every file, in every version, that is in the table. Another URI of a file's place counts as another file."""
        folded = (_file(each) for document in self._current_folded() for each in document["files"])
        return {file for entry in self.committed_entries for file in entry.files} | set(folded)

    def loaded_hashes(self) -> set[str]:
        """The hashes of the writes of type Once that have committed."""
        folded = {each for document in self._current_folded() for each in document["hashes"]}
        return {entry.hash for entry in self.committed_entries if entry.once} | folded

    def hashes(self) -> set[str]:
        """The hashes of the writes that have entries. Of folded entries only those of type Once are kept."""
        return {entry.hash for entry in (*self.committed_entries, *self.open_entries)} | self.loaded_hashes()

    def begin(self, job: Job, before: int, files: Iterable[InputFile]) -> Entry:
        """Records the intent to load `files`; must be called before the commit."""
        write = job.parameters_as(WriteParameters)
        run, number = f"{job.run.name}-{job.run.uid}", 1
        while f"{run}-{number}.json" in self._names:
            number += 1
        entry = Entry(
            f"{run}-{number}", self._table, write.hash, job.commit_user, before, tuple(files), once=write.once
        )
        document = {**asdict(entry), "files": _listed(entry.files)}
        self._write(entry.name + ".json", document)
        return entry

    def mark_committed(self, entry: Entry, commits: Iterable[Commit]) -> None:
        """Records that the entry's rows are in the table, by these commits: none when its files held no row.

        The snapshots can expire before a repeated attempt looks them up.
        """
        self._write(entry.name + COMMITTED, {"commits": [asdict(commit) for commit in commits]})

    def commits(self, entry: Entry) -> list[Commit]:
        """The commits in the entry's marker; none in a marker that a person or an older image has written."""
        if entry.name + COMMITTED not in self._names:
            return []
        try:
            document = self._read(entry.name + COMMITTED)
            return [Commit(**_known(Commit, each)) for each in document["commits"]]
        except (ValueError, TypeError, KeyError):
            return []

    def mark_abandoned(self, entry: Entry) -> None:
        """Records that the entry's rows are not in the table and never will be by this entry."""
        self._write(entry.name + ABANDONED, {})

    def fold(self, keep: Entry) -> None:
        """Merges committed entries into one file, then removes them and the abandoned ones.

        The run of `keep` keeps its entries, so that a retry finds that it has committed.
        """
        entries = [entry for entry in self.committed_entries if entry.run != keep.run]
        if len(entries) < FOLD_AFTER:
            return
        old = [name for name in self._names if name.startswith("folded-")]
        number = max((int(name.removeprefix("folded-").removesuffix(".json")) for name in old), default=0) + 1
        files = sorted(self.loaded())
        self._write(
            f"folded-{number}.json",
            {
                "table": self._table,
                "files": _listed(files),
                "hashes": sorted(self.loaded_hashes()),
            },
        )
        committed = {entry.name for entry in entries}
        abandoned = {name for name in self._marked(ABANDONED) if name.rpartition("-")[0] != keep.run}
        self._remove([*old, *self._files_of(committed, COMMITTED)])
        self._remove(self._files_of(abandoned - self._marked(COMMITTED), ABANDONED))

    def marker_paths(self, entry: Entry) -> tuple[str, str]:
        """The markers with which a person resolves an open entry: (committed, abandoned)."""
        return (f"{self._directory}/{entry.name}{COMMITTED}", f"{self._directory}/{entry.name}{ABANDONED}")

    def _unmarked(self) -> list[str]:
        names = (name.removesuffix(".json") for name in self._names if name.endswith(".json"))
        marked = self._marked(COMMITTED) | self._marked(ABANDONED)
        return sorted(name for name in names if not name.startswith("folded-") and name not in marked)

    def _marked(self, how: str) -> set[str]:
        return {name.removesuffix(how) for name in self._names if name.endswith(how)}

    def _files_of(self, entries: set[str], marker: str) -> list[str]:
        """Entries before markers, so that a half removed one is not read as unmarked."""
        return [*(name + ".json" for name in entries), *(name + marker for name in entries)]

    def _current_folded(self) -> list[dict[str, Any]]:
        return [document for document in self._folded if document["table"] == self._table]

    @functools.cached_property
    def _folded(self) -> list[dict[str, Any]]:
        return [self._read(name) for name in self._names if name.startswith("folded-")]

    def _read_entry(self, name: str) -> Entry:
        document = self._read(name + ".json")
        return Entry(**{**_known(Entry, document), "files": tuple(_file(each) for each in document["files"])})

    def _list(self) -> set[str]:
        try:
            statuses = self._files.listStatus(self._session.path(self._directory))
        except Exception as error:
            if is_caused_by(error, "FileNotFoundException"):
                return set()
            raise
        return {status.getPath().getName() for status in statuses}

    def _read(self, name: str) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self._files.readFileUtf8(self._path(name)))
        return document

    def _write(self, name: str, document: dict[str, Any]) -> None:
        text = json.dumps(document, separators=(",", ":"))
        if not self._files.tryToWriteAtomic(self._path(name), text):
            raise FileExistsError(f"{self._directory}/{name} exists already: is another run of this table active?")
        self._names.add(name)

    def _remove(self, names: Iterable[str]) -> None:
        for name in names:
            self._files.delete(self._path(name), False)

    def _path(self, name: str) -> Any:
        return self._session.path(f"{self._directory}/{name}")


def _listed(files: Iterable[InputFile]) -> list[list[Any]]:
    return [[file.path, file.size, file.version, file.place] for file in files]


def _file(listed: list[Any]) -> InputFile:
    """A file as an entry lists it. Release 0.1 wrote no place."""
    path, size, version, *more = listed
    return InputFile(path, size, version, place=more[0] if more and isinstance(more[0], str) else "")


def _known(form: Any, document: dict[str, Any]) -> dict[str, Any]:
    """The part of the document that the dataclass `form` has fields for."""
    return {each.name: document[each.name] for each in fields(form) if each.name in document}
