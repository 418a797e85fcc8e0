"""Changes the number of buckets of a table with Fixed buckets, a bounded number of partitions per run.

Steps: tag the snapshot, alter the number and mark the table, rewrite each partition in one commit, compare the whole
table with the tag, remove the mark, delete the tag. The table alone holds the state, so a run continues where a killed
one was: the mark says that a rescale is unfinished, and the manifests which partitions have the number already. No
other run commits in between (bucket_layout.refuse_mixing_buckets).
"""

from __future__ import annotations

from typing import Any

from paimon_contract.job import Job
from paimon_contract.parameters.rescale import RescaleParameters
from paimon_contract.result import Outcome, RescaleSummary
from paimon_schema.bucket_count import BUCKET, RESCALE_OPTION
from paimon_schema.steps import option_step
from spark_apps.catalog.bucket_layout import (
    BUCKET_MODES,
    TAG_PREFIX,
    PartitionLayout,
    other_counts,
    read_layout,
    rescale_tags,
    tag_of,
)
from spark_apps.catalog.content import content_changes, content_of
from spark_apps.catalog.foreign_commits import is_run_commit
from spark_apps.catalog.measure import measure_at_start, measure_table, outcome_between
from spark_apps.catalog.session import Session
from spark_apps.catalog.snapshots import latest_snapshot
from spark_apps.failures.errors import spec_failure
from spark_apps.metadata.settings import FIXED
from spark_apps.progress import log_step
from spark_apps.schema.alter import commit
from spark_apps.sql.identifiers import CATALOG, call, qualified, quote
from spark_apps.sql.partition_values import condition_of, literal_of

PARAMETERS = RescaleParameters
FIELD = "spec.bucket.fixed.count"
TAG_DAYS = 3650
MOST_NAMED = 3
"""Partitions that a message names."""


def run(job: Job, session: Session) -> Outcome:
    """Rewrites the next partitions, and completes the rescale after the last one."""
    rescale = job.parameters_as(PARAMETERS)
    table = session.table_at_start()
    before = measure_at_start(session, table)
    layout = read_layout(session, table)
    if tag_of(table) is None:
        begin(session, table, layout, rescale.count)
    elif int(table.coreOptions().bucket()) != rescale.count:
        alter(session, {BUCKET: str(rescale.count)})
    table = session.existing_table()
    tag = tag_of(table)
    if tag is not None:
        layout = _rewrite_some(session, table, tag, rescale)
    left = other_counts(layout, rescale.count) if tag is not None else []
    if not left:
        complete(job, session, table, tag)
    after = measure_table(session, session.existing_table(), before=before)
    done = RescaleSummary(done=len(layout) - len(left), total=len(layout), finished=not left)
    return outcome_between(before, after, rescale=done)


def begin(session: Session, table: Any, layout: list[PartitionLayout], count: int) -> None:
    """Alters the number and marks the table, in one ALTER. Without data in another number there is nothing to mark."""
    has_count, old = int(table.coreOptions().bucket()) == count, other_counts(layout, count)
    if has_count and not old:
        return
    _refuse_unsupported(session, table)
    for partition in layout:
        condition_of(partition.keys)  # raises for what could not be rewritten later
    mark = {RESCALE_OPTION: create_tag(session, table)} if old else {}
    alter(session, {BUCKET: str(count), **mark})


def create_tag(session: Session, table: Any) -> str:
    """Creates the tag of the latest snapshot, in place of those of runs that were killed before the mark."""
    delete_tags(table)
    snapshot = latest_snapshot(table)
    # With a time of its own: by tag.default-time-retained it could expire before the comparison.
    table.createTag(f"{TAG_PREFIX}{snapshot}", snapshot, session.jvm.java.time.Duration.ofDays(TAG_DAYS))
    return f"{TAG_PREFIX}{snapshot}"


def alter(session: Session, options: dict[str, str | None]) -> None:
    """Sets options of the table in one ALTER; None removes one."""
    commit([option_step(key, value) for key, value in options.items()], session)


def _rewrite_some(session: Session, table: Any, tag: str, rescale: RescaleParameters) -> list[PartitionLayout]:
    """Rewrites up to the given number of partitions that need it. Returns the layout afterwards."""
    _refuse_other_commits(session, table, tag)
    chosen = _next(other_counts(read_layout(session, table), rescale.count), rescale)
    for number, partition in enumerate(chosen, 1):
        rewrite(session, partition, rescale.count)
        log_step(f"partition {number} of {len(chosen)} of this run is rewritten")
    for partition in _old(session, table, chosen, rescale.count):
        empty(session, table, partition)
    if _old(session, table, chosen, rescale.count):
        said = f"{session.job.table} has files in another number of buckets after they were rewritten"
        raise spec_failure("RescaleFailed", said, f"report it: tag {tag} has the data before the rescale", field=FIELD)
    return read_layout(session, table)


def _next(left: list[PartitionLayout], rescale: RescaleParameters) -> list[PartitionLayout]:
    """The first of the partitions that are left, as many as one run may rewrite: at least one."""
    chosen: list[PartitionLayout] = []
    for each in left[: rescale.most_partitions]:
        size = sum(other.size_bytes for other in chosen) + each.size_bytes
        if chosen and rescale.most_bytes is not None and size > rescale.most_bytes:
            break
        chosen.append(each)
    return chosen


def _old(session: Session, table: Any, chosen: list[PartitionLayout], count: int) -> list[PartitionLayout]:
    """Those of `chosen` that still have files in another number of buckets."""
    keys = {each.keys for each in chosen}
    return [each for each in other_counts(read_layout(session, table), count) if each.keys in keys]


def rewrite(session: Session, partition: PartitionLayout, count: int) -> None:
    """Rewrites the rows of one partition into `count` buckets, in one commit."""
    where = condition_of(partition.keys)
    database, name = session.job.table.database, session.job.table.name
    if _has_procedure(session):
        # It also fails when another commit comes in between, which an overwrite would lose.
        table = qualified(database, name)
        session.spark.sql(call("rescale", {"table": table, "bucket_num": count, "where": where or None})).collect()
        return
    rows = session.dataframe()
    (rows.where(where) if where else rows).writeTo(qualified(CATALOG, database, name)).overwritePartitions()


def _has_procedure(session: Session) -> bool:
    return session.engine.has_argument("rescale", "bucket_num")


def empty(session: Session, table: Any, partition: PartitionLayout) -> None:
    """Removes the files of a partition whose rows are all deleted: a rewrite without rows commits nothing."""
    name = qualified(CATALOG, session.job.table.database, session.job.table.name)
    if any(key.value is None for key in partition.keys):
        said = f"the partition {condition_of(partition.keys)} of {session.job.table} has deleted rows only"
        raise spec_failure("RescaleFailed", said, "drop this partition with another program", field=FIELD)
    keys = {key.name for key in partition.keys}
    static = ", ".join(f"{quote(key.name)} = {literal_of(key)}" for key in partition.keys)
    columns = ", ".join(quote(str(each)) for each in table.rowType().getFieldNames() if str(each) not in keys)
    into = f"{name} PARTITION ({static})" if static else name
    session.spark.sql(f"INSERT OVERWRITE {into} SELECT {columns} FROM {name} WHERE false").collect()  # noqa: S608


def complete(job: Job, session: Session, table: Any, tag: str | None) -> None:
    """Compares the table with the tag, removes the mark and deletes the tags of this and of killed rescales."""
    if tag is not None:
        verify(job, session, table, tag)
        unmark(session)
    delete_tags(table)


def unmark(session: Session) -> None:
    """Removes the mark, so that other runs commit again."""
    alter(session, {RESCALE_OPTION: None})


def verify(job: Job, session: Session, table: Any, tag: str) -> None:
    """Raises RunError unless the table holds what it held at the tag, each key once. The tag and the mark stay."""
    if tag not in rescale_tags(table):
        raise spec_failure(
            "RescaleFailed",
            f"tag {tag} of {job.table} was deleted, so the rewritten table cannot be compared with the one before",
            f"to accept the table as it is, remove its option {RESCALE_OPTION} and edit the manifest",
            field=FIELD,
        )
    _refuse_other_commits(session, table, tag)
    before, now = content_of(session, table, tag), content_of(session, table)
    changes = content_changes(before, now, has_keys=bool(table.schema().primaryKeys()))
    if changes:
        said = "; ".join(str(each) for each in changes[:MOST_NAMED])
        raise spec_failure(
            "RescaleFailed",
            f"after the rescale, {len(changes)} partitions of {job.table} differ from tag {tag}: {said}",
            f"nothing is written to the table now. Roll back to tag {tag}, which has the data before the rescale, then "
            "edit the number: the rescale starts again from there",
            field=FIELD,
        )


def delete_tags(table: Any) -> None:
    """Deletes the tags of rescales that are complete."""
    for tag in rescale_tags(table):
        table.deleteTag(tag)


def _refuse_unsupported(session: Session, table: Any) -> None:
    """Raises RunError for tables whose new rows become visible only by a compaction, and for other bucket modes."""
    options, mode = table.coreOptions(), str(table.bucketMode().toString())
    mode, problem = BUCKET_MODES.get(mode, mode), None
    if mode != FIXED:
        problem = f"has buckets of type {mode}, and a number of buckets can replace only another number"
    elif options.deletionVectorsEnabled() or str(options.mergeEngine().toString()) == "first-row":
        problem = (
            "has deletion vectors or merge engine first-row: its readers skip rows that are not compacted, so the "
            "table before and after a rewrite cannot be compared"
        )
    elif str(options.changelogProducer().toString()) == "full-compaction" and not _has_procedure(session):
        problem = "has changelogProducer FullCompaction: the next compaction would give every row to its readers again"
    if problem is not None:
        raise spec_failure(
            "RescaleRefused",
            f"the table {session.job.table} {problem}",
            "undo the edit, or create another table and load the data into it",
            field="spec.bucket",
        )


def _refuse_other_commits(session: Session, table: Any, tag: str) -> None:
    """Raises RunError when a commit since the tag is not of a run of this table: a rewrite may have lost its rows."""
    snapshots = table.snapshotManager()
    for number in range(int(tag.removeprefix(TAG_PREFIX)) + 1, latest_snapshot(table) + 1):
        user = str(snapshots.snapshot(number).commitUser()) if snapshots.snapshotExists(number) else ""
        if user and not is_run_commit(user, session.job):
            raise spec_failure(
                "RescaleFailed",
                f"snapshot {number} of {session.job.table} was committed by {user[:100]} during the rescale",
                f"stop that writer; the data before the rescale is in tag {tag}",
                field="spec.externalWriters",
            )
