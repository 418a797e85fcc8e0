"""Verified maintenance: proves that the commits of this run have changed no row, or tags the snapshot before them.

Each stretch of own commits is compared with the snapshot that it is based on, both read by time travel. So commits of
other writers in between change nothing. A killed run leaves its commits, or the tag: the next attempt finds the same.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from paimon_contract.parameters.verification import VerifyParameters
from paimon_contract.result import Outcome, RowDifference, Verification
from paimon_schema.table_schema import TableSchema, read_schema_file
from spark_apps.catalog.bucket_layout import BUCKET_MODES
from spark_apps.catalog.bucket_sample import Sample, can_number, sample_of
from spark_apps.catalog.content import Content, content_changes, content_of_rows, rows_of
from spark_apps.catalog.foreign_commits import Commits, JavaCommits
from spark_apps.catalog.measure import measure_table, schema_of
from spark_apps.catalog.own_commits import Stretch, own_stretches
from spark_apps.catalog.rollback_guard import why_not_rolled_back
from spark_apps.catalog.session import Session
from spark_apps.catalog.snapshots import latest_snapshot
from spark_apps.catalog.warehouse_files import files_for
from spark_apps.failures.errors import RunError, spec_failure
from spark_apps.progress import log_step

TAG_PREFIX: Final = "paimon-operator-verify-"
TAG_DAYS: Final = 3650
MOST_NAMED: Final = 2
"""Partitions that a message names."""
MAX_FOUND: Final = 300
"""Characters of what is found."""
UNAWARE: Final = "Unaware"
DoneT = TypeVar("DoneT")
_TAG: Final = re.compile(f"{TAG_PREFIX}([1-9][0-9]{{0,17}})-[0-9a-f]{{8}}")


def tag_name(commit_user: str, snapshot: int) -> str:
    """The tag of a run for the snapshot before its commit: `paimon-operator-verify-<snapshot>-<8 hex of the run>`."""
    return f"{TAG_PREFIX}{snapshot}-{hashlib.sha256(commit_user.encode()).hexdigest()[:8]}"


def tags_of_run(commit_user: str, names: Iterable[str]) -> list[int]:
    """The snapshots for which an attempt of the run has made a tag."""
    found = ((each, _TAG.fullmatch(each)) for each in names)
    numbers = ((each, int(match[1])) for each, match in found if match is not None)
    return sorted(number for each, number in numbers if each == tag_name(commit_user, number))


def shared_columns(schemas: Iterable[TableSchema]) -> list[str]:
    """The columns that are the same in all schemas, by id, name and type. Spark reads each snapshot by their names."""
    first, *others = ({(each.id, each.name, each.type) for each in schema.columns} for schema in schemas)
    return sorted(name for _, name, _ in first.intersection(*others))


def create_tag(session: Session, table: Any, tag: str, snapshot: int) -> None:
    """Creates the tag, unless an earlier attempt has."""
    if tag not in {str(each) for each in table.tagManager().allTagNames()}:
        # With a time of its own: by tag.default-time-retained it could expire before somebody looks at it.
        table.createTag(tag, snapshot, session.jvm.java.time.Duration.ofDays(TAG_DAYS))


def roll_back(table: Any, snapshot: int) -> None:
    """Makes the snapshot the latest one. Those after it are deleted."""
    table.rollbackTo(snapshot)


@dataclass
class RunVerification:
    """What this run has compared so far."""

    session: Session
    verify: VerifyParameters
    done: Verification = field(default_factory=lambda: Verification(commits=0, rows=0))
    _since: int | None = None

    def check(self) -> None:
        """Compares the own commits that were not compared yet. Raises RunError if one has changed rows.

        Call it before the first commit, for those of an earlier attempt, and after the last one.
        """
        table = self.session.existing_table()
        commits: Commits = JavaCommits(table)
        latest = commits.latest_id()
        stretches = own_stretches(self.session.job, commits, self._since)
        for stretch in stretches:
            self._compare(table, commits, stretch)
        if self._since is None:
            self._refuse_found_before(table, stretches)
        self._since = latest

    def summary(self) -> Verification | None:
        """What was compared; None if the run has made no commit."""
        return self.done if self.done.commits or self.done.uncompared else None

    def _compare(self, table: Any, commits: Commits, stretch: Stretch) -> None:
        if commits.commit(stretch.before) is None:
            log_step(f"snapshot {stretch.before} has expired, so the rows before snapshot {stretch.after} are unknown")
            self.done = replace(self.done, uncompared=self.done.uncompared + stretch.commits)
            return
        sample = self._sample(table, stretch)
        before, after = self._contents(table, stretch, sample)
        if sample.condition is not None and not before and not after:  # it proves nothing
            sample = Sample()
            before, after = self._contents(table, stretch, sample)
        self.done = replace(
            self.done,
            commits=self.done.commits + stretch.commits,
            rows=self.done.rows + sum(rows for rows, _, _ in after.values()),
            buckets=None if sample.buckets is None else (self.done.buckets or 0) + sample.buckets,
        )
        changes = content_changes(before, after, has_keys=False)
        if changes:
            said = "; ".join(str(each) for each in changes[:MOST_NAMED])
            self._report(table, commits, stretch, f"{len(changes)} partitions differ: {said}")

    def _sample(self, table: Any, stretch: Stretch) -> Sample:
        if self.verify.whole:
            return Sample()
        mode = str(table.bucketMode().toString())
        several, keyed = BUCKET_MODES.get(mode, mode) != UNAWARE, bool(list(table.primaryKeys()))
        numbered = several and not keyed and can_number(rows_of(self.session))
        return sample_of(self.session.job, files_for(self.session), schema_of(table), stretch, numbered=numbered)

    def _contents(self, table: Any, stretch: Stretch, sample: Sample) -> tuple[dict[str, Content], dict[str, Content]]:
        """What the snapshots before and after hold."""
        log_step(f"compares snapshots {stretch.before} and {stretch.after}: {sample.condition or 'all rows'}"[:500])
        before = self._content(table, stretch.before, stretch, sample)
        return before, self._content(table, stretch.after, stretch, sample)

    def _content(self, table: Any, snapshot: int, stretch: Stretch, sample: Sample) -> dict[str, Content]:
        rows = rows_of(self.session, snapshot_id=str(snapshot))
        if sample.condition is not None:
            rows = rows.where(sample.condition)
        columns = [each for each in shared_columns(_schemas(table, stretch)) if each not in self.verify.uncompared]
        return content_of_rows(rows, [str(each) for each in table.partitionKeys()], columns)

    def _report(self, table: Any, commits: Commits, stretch: Stretch, found: str) -> None:
        """Tags the snapshot before, rolls back by the policy, and raises RunError."""
        tag = tag_name(self.session.job.commit_user, stretch.before)
        create_tag(self.session, table, tag, stretch.before)
        kept = self._why_kept(table, commits, stretch) if self.verify.rolls_back else None
        rolled_back = self.verify.rolls_back and kept is None
        if rolled_back:
            roll_back(table, stretch.before)
        difference = RowDifference(
            before=stretch.before, after=stretch.after, found=found[:MAX_FOUND], tag=tag, rolled_back=rolled_back
        )
        raise self._failure(difference, kept)

    def _why_kept(self, table: Any, commits: Commits, stretch: Stretch) -> str | None:
        """Why the table is not rolled back although the policy asks for it; None: it is."""
        job, files = self.session.job, files_for(self.session)
        since = stretch.before if job.since_snapshot is None else job.since_snapshot
        since = since if self._since is None else self._since
        said = why_not_rolled_back(job, files, commits, stretch, since)
        latest = latest_snapshot(table)
        return said if latest == stretch.after else f"snapshot {latest} was committed after it"

    def _refuse_found_before(self, table: Any, stretches: list[Stretch]) -> None:
        """Raises RunError if an earlier attempt has found a difference that is gone now, by a rollback.

        It was killed before it reported that. A rollback that was killed too can leave the first of the commits.
        """
        job, known = self.session.job, {each.before for each in stretches}
        for before in tags_of_run(job.commit_user, [str(each) for each in table.tagManager().allTagNames()]):
            raise self._failure(
                RowDifference(
                    before=before,
                    after=before + 1,
                    found="an earlier attempt of the run found it and ended before it could report what differs",
                    tag=tag_name(job.commit_user, before),
                    rolled_back=self.verify.rolls_back and before not in known,
                )
            )

    def _failure(self, difference: RowDifference, kept: str | None = None) -> RunError:
        """The failure; `kept`: why the table was not rolled back although the policy asks for it."""
        job, done = self.session.job, replace(self.done, difference=difference)
        back = f"the table was rolled back to snapshot {difference.before}; " if difference.rolled_back else ""
        back = back if kept is None else f"it was not rolled back, because {kept}; "
        return spec_failure(
            "VerificationFailed",
            f"snapshot {difference.after} of {job.table}, which this run committed, has other rows than snapshot "
            f"{difference.before}: {difference.found}; {back}tag {difference.tag} keeps the rows before",
            f"no maintenance of the table starts until the annotation paimon-operator.dev/accept-rows={job.run.name} "
            "is set: docs/verify.md",
            outcome=Outcome(
                table=measure_table(self.session, self.session.existing_table(), pins=False).table, verification=done
            ),
        )


def verified(
    session: Session, verify: VerifyParameters | None, work: Callable[[], DoneT]
) -> tuple[DoneT, Verification | None]:
    """What `work` returns, and what was compared of its commits. Raises RunError if one of them has changed rows.

    The commits of an earlier attempt are compared first, and those of work that has failed, too.
    """
    if verify is None:
        return work(), None
    verification = RunVerification(session, verify)
    verification.check()
    try:
        done = work()
    except Exception:
        verification.check()
        raise
    verification.check()
    return done, verification.summary()


def _schemas(table: Any, stretch: Stretch) -> Iterator[TableSchema]:
    """Those of both snapshots, and the latest one."""
    schemas, snapshots = table.schemaManager(), table.snapshotManager()
    ids = {int(snapshots.snapshot(each).schemaId()) for each in (stretch.before, stretch.after)}
    for each in sorted(ids | {int(table.schema().id())}):
        yield read_schema_file(schemas.schema(each).toString())
