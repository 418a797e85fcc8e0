"""Reports files that nothing of the table names, moves away those that two reports name, or moves them back.

Paimon's procedure of that purpose returns only numbers in Spark, and reads a missing manifest list as empty
(apache/paimon#7710). So the files are found here: `spark_apps/orphans`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from paimon_contract.job import Job
from paimon_contract.parameters.remove_orphan_files import (
    DELETE,
    LEAST_SECONDS,
    REPORT,
    RESTORE,
    RemoveOrphanFilesParameters,
)
from paimon_contract.result import OrphanFiles, Outcome
from paimon_engines.engine import Engine
from paimon_schema.option_changes import OWNER_OPTION
from spark_apps.catalog.foreign_commits import FileCommits, inspected
from spark_apps.catalog.measure import Measured, measured, outcome_between
from spark_apps.catalog.session import Session
from spark_apps.failures.errors import RunError, spec_failure
from spark_apps.loading.ledger import NO_LEDGER, ledgers_of
from spark_apps.metadata.base import MetadataFiles, UnreadableError
from spark_apps.metadata.health import time_text
from spark_apps.metadata.snapshots import SnapshotFiles
from spark_apps.metadata.table_files import TableFiles, location_of
from spark_apps.orphans import storage_in
from spark_apps.orphans.files import ChangeFailedError, ListedFile, OtherFileError, StorageFiles
from spark_apps.orphans.finder import Orphan, Survey, survey
from spark_apps.orphans.held_tag import held_tag, is_held, remove_left_tag
from spark_apps.orphans.java import JavaStorage
from spark_apps.orphans.kinds import Layout
from spark_apps.orphans.quarantine import Quarantine
from spark_apps.orphans.references import References
from spark_apps.orphans.removal import Removal, kept_in, restore_all
from spark_apps.orphans.reports import Header, Reports, header_of
from spark_apps.orphans.times import Moment, moment_of
from spark_apps.progress import log_step

PARAMETERS = RemoveOrphanFilesParameters
COMMITS: Final = False
LOOKS: Final = True
FIELD: Final = "spec.retention.orphanFiles"
DIRECTORY: Final = f"{NO_LEDGER}orphan-files"
"""Beside the ledgers of the table's writes."""
_OUTSIDE_COMMIT: Final = "OutsideCommit"


def run(job: Job, session: Session) -> Outcome:
    """Does it by Paimon's FileIO. Raises RunError for a reference that cannot be read."""
    session.table_at_start()  # (it is there, and has its owner's mark)
    with _explained():
        return _outcome(_work(job, JavaStorage(session)))


def without_jvm(job: Job, engine: Engine, files: MetadataFiles) -> Outcome | None:
    """The same by Python; None where the JVM's program reports more, or has to change files.

    It reports more without a table or its mark, and after a foreign commit.
    """
    storage = storage_in(job.catalog, engine, job.hadoop)
    schema = TableFiles(files, location_of(job)).latest_schema()
    if storage is None or schema is None or schema.options.get(OWNER_OPTION) != job.owner:
        return None
    work = _work(job, storage)
    if not storage.may_change_tables and work.changes_the_table:
        return None
    try:
        return _outcome(work)
    except RunError as error:
        if error.reason == _OUTSIDE_COMMIT:
            return None
        raise


def _outcome(work: _Work) -> Outcome:
    """What was done, with the table before and after: it changes only beside other writers."""
    before = _measured(work.job, work.files, None)
    done = work.perform()
    after = None if before is None else _measured(work.job, work.files, before)
    if before is None or after is None:
        return Outcome(orphan_files=done)
    return outcome_between(before, after, orphan_files=done)


def _measured(job: Job, files: StorageFiles, before: Measured | None) -> Measured | None:
    """The table now; None where only Paimon could read it, which no search for orphans needs."""
    location = location_of(job)
    try:
        schema = TableFiles(files, location).latest_schema()
        known = None if before is None else before.observation
        return None if schema is None else measured(files, location, schema, pins=False, known=known)
    except UnreadableError as error:
        log_step(f"the table is not measured: {error}")
        return None


def perform(job: Job, files: StorageFiles) -> OrphanFiles:
    """Reports, removes or restores, on any storage. Raises RunError and UnreadableError."""
    return _work(job, files).perform()


def _work(job: Job, files: StorageFiles) -> _Work:
    """The run. Raises RunError for parameters that this image does not know."""
    asked = job.parameters_as(PARAMETERS)
    if asked.mode not in (REPORT, DELETE, RESTORE) or asked.older_than_seconds < LEAST_SECONDS:
        raise spec_failure(
            "InvalidSpec",
            f"this image cannot do {asked.mode} for files that are older than {asked.older_than_seconds} s",
            "use the image of the operator's release, and set olderThan to 1d or more",
            field=FIELD,
        )
    return _Work(job, files)


@dataclass(frozen=True)
class _Work:
    """One run."""

    job: Job
    files: StorageFiles

    @property
    def asked(self) -> RemoveOrphanFilesParameters:
        return self.job.parameters_as(PARAMETERS)

    @property
    def location(self) -> str:
        return location_of(self.job)

    @property
    def directory(self) -> str:
        return f"{ledgers_of(self.job)}/{DIRECTORY}"

    @property
    def older_than_ms(self) -> int:
        return 1000 * self.asked.older_than_seconds

    @property
    def quarantine(self) -> Quarantine:
        return Quarantine(self.files, f"{self.directory}/quarantine", self.location)

    @property
    def reports(self) -> Reports:
        return Reports(self.files, f"{self.directory}/reports")

    @cached_property
    def now(self) -> Moment:
        """Before the files are listed."""
        return moment_of(self.files, self.directory)

    @cached_property
    def found(self) -> Survey:
        """What is listed. The layout comes from schemas that cannot be read as none."""
        layout = Layout.of(References(self.files, self.location, ()).schemas())
        before = self.now.earliest_ms - self.older_than_ms
        return survey(self.files.walk(self.location), layout, before)

    @cached_property
    def kept(self) -> list[ListedFile]:
        """What earlier runs have moved away, before this one moves any."""
        return list(kept_in(self.quarantine))

    @cached_property
    def references(self) -> References:
        """Read after the files are listed."""
        wanted = set(self.found.old) | {each.name for each in self.kept}
        return References(self.files, self.location, wanted)

    @cached_property
    def orphans(self) -> list[Orphan]:
        return list(self.found.orphans(self.references.referenced()))

    @property
    def changes_the_table(self) -> bool:
        """Whether the run may move or remove files of the table, those that were moved away, or the operator's tag."""
        if self.asked.mode == RESTORE or is_held(self.files, self.location) or not self.quarantine.is_empty:
            return True
        return self.asked.mode == DELETE and bool(self.orphans)

    def perform(self) -> OrphanFiles:
        """Does what is asked for."""
        remove_left_tag(self.files, self.location)
        if self.asked.mode == RESTORE:
            return OrphanFiles(restored=restore_all(self.quarantine).files)
        return self.report() if self.asked.mode == REPORT else self.delete()

    def report(self) -> OrphanFiles:
        """Writes a report. Changes nothing else."""
        header = self._header()
        path = self._write(header)
        self._removal().restore_referenced()
        self.reports.thin(self.now, self.older_than_ms)
        return self._result(header, path)

    def delete(self) -> OrphanFiles:
        """Writes a report, and moves away what an earlier one names, too."""
        header = self._header()
        path = self._write(header)
        removal = self._removal()
        removal.restore_referenced()
        self._require_alone()
        self._require_few(header, path)
        earlier = self.reports.earlier(self.now, self.older_than_ms)
        agreed = self._agreed(earlier)
        if agreed or not self.quarantine.is_empty:
            with held_tag(self.files, self.location):
                removal.remove_old(self.older_than_ms)
                removal.move_away(agreed)
        compared = None if earlier is None else time_text(self.reports.header(earlier).storage_ms)
        self.reports.thin(self.now, self.older_than_ms)
        return replace(
            self._result(header, path),
            compared_with=compared,
            moved=removal.moved.files,
            moved_bytes=removal.moved.bytes,
            removed=removal.removed.files,
            removed_bytes=removal.removed.bytes,
        )

    def _header(self) -> Header:
        run, older = self.job.run.name, self.asked.older_than_seconds
        table = str(self.job.table)
        header = header_of(self.found, self.orphans, self.now, run=run, table=table, older_than_seconds=older)
        log_step(f"{header.orphans} of {header.files} files are orphans of {header.orphan_bytes} bytes")
        return header

    def _write(self, header: Header) -> str:
        return self.reports.write(header, self.job.run.uid, self.orphans, self.found.unknown)

    def _agreed(self, earlier: str | None) -> list[ListedFile]:
        """The orphans that the earlier report lists with the same size and time."""
        if earlier is None:
            return []
        before = set(self.reports.listed(earlier))
        return [each.file for each in self.orphans if each.file in before]

    def _removal(self) -> Removal:
        name = f"{self.job.run.name}-{self.job.run.uid}"
        return Removal(
            files=self.files,
            location=self.location,
            references=self.references,
            quarantine=self.quarantine,
            at=self.now,
            run=name,
            require_alone=self._require_alone,
        )

    def _require_few(self, header: Header, path: str) -> None:
        if 100 * header.orphans < self.asked.max_percent * header.files:
            return
        raise RunError(
            "Spec",
            "TooManyOrphanFiles",
            f"{header.orphans} of {header.files} files are orphans, which is {self.asked.max_percent} % or more, so "
            "nothing was removed: the table may be damaged",
            f"read the list {path}; if the files are waste, create a PaimonRun of type RemoveOrphanFiles with "
            "removeOrphanFiles.maxPercent; otherwise restore the table",
            field=f"{FIELD}.mode",
            outcome=Outcome(orphan_files=self._result(header, path)),
        )

    def _require_alone(self) -> None:
        """Raises RunError after a foreign commit: that writer's files may be as old as orphans."""
        schema = TableFiles(self.files, self.location).latest_schema()
        owner = None if schema is None else schema.options.get(OWNER_OPTION)
        if owner != self.job.owner:
            raise RunError(
                "Environment",
                "Conflict",
                f"the table {self.job.table} has another owner now, so nothing more is removed",
                "delete one of the two PaimonTables, or set adoptionPolicy to Adopt if that owner is gone",
                field="spec.adoptionPolicy",
            )
        seen = inspected(self.job, FileCommits(SnapshotFiles(self.files, self.location)), owner)
        if seen.outside_commit is None:
            return
        raise RunError(
            "Environment",
            _OUTSIDE_COMMIT,
            f"snapshot {seen.outside_commit.snapshot_id} of {self.job.table} was made by commit user "
            f"{seen.outside_commit.commit_user or 'unnamed'}, not by the operator; no orphan is removed beside it",
            "stop that writer, or declare it in externalWriters and set retention.orphanFiles.mode to Report",
            field="spec.externalWriters",
        )

    def _result(self, header: Header, path: str) -> OrphanFiles:
        left = list(kept_in(self.quarantine))
        return OrphanFiles(
            files=header.files,
            orphans=header.orphans,
            orphan_bytes=header.orphan_bytes,
            unknown=header.unknown,
            report=path,
            kept=len(left),
            kept_bytes=sum(each.size for each in left),
        )


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except UnreadableError as error:
        raise _failure(error) from error


def _failure(error: UnreadableError) -> RunError:
    if isinstance(error, OtherFileError):
        return RunError(
            "Environment",
            "Conflict",
            f"a file was not moved back, because the table has another one of its path: {error}",
            "remove the one that is wrong, then restore again: docs/orphan-files.md",
            field=FIELD,
        )
    if isinstance(error, ChangeFailedError):
        return RunError(
            "Environment",
            "AccessDenied",
            f"a file could not be written, moved or removed: {error}",
            "let the catalog's credentials write and delete in the warehouse",
        )
    return RunError(
        "Environment",
        "ReferenceUnreadable",
        f"nothing was removed, because {error}",
        "restore the file, or delete the snapshot, tag or branch that needs it",
        field=FIELD,
    )
