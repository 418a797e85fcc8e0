"""What a run's driver is given: one JSON document, made from the table, its catalog and the run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from paimon_contract.job import Job, JobCatalog, JobExecutors, JobRun, JobSpark, JobTable
from paimon_contract.owner_mark import digest_of, owner_mark
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.policies import DeletionPolicy
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.spark import CatalogSpark
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core import naming, storage
from paimon_operator.core.commits import commit_safety, foreign_commits
from paimon_operator.core.config import OperatorFacts
from paimon_operator.core.naming import ObjectKey
from paimon_operator.core.operations import registry
from paimon_operator.core.operations.operation import OperationSpec, Role
from paimon_operator.core.operations.run_problems import run_problems
from paimon_operator.core.operations.verification import state_of, was_switched
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.identity import table_name
from paimon_operator.core.spec.ownership import was_moved
from paimon_operator.core.spec.place import place_of
from paimon_operator.core.storage.access import Access
from paimon_operator.core.validation.blocks import with_valid_blocks
from paimon_operator.core.validation.catalog import blocking_problems
from paimon_operator.core.validation.deadlines import deadline_of_run
from paimon_operator.errors import RunEnvironmentError, SpecError

Owners = Iterable[ObjectKey]
"""The other PaimonTables with proof that name the same database and table."""
NO_TIME: Final = datetime.min.replace(tzinfo=UTC)


def build_job(
    run: PaimonRun,
    table: PaimonTable,
    catalog: PaimonCatalog,
    operator: OperatorFacts,
    executors: JobExecutors | None = None,
    *,
    owners_beside: Owners = (),
) -> Job:
    """The job document of `run`, as `job_of`; raises SpecError for a catalog that is wrong too."""
    for problem in (*run_problems(run), *deadline_of_run(run, catalog), *blocking_problems(catalog, operator)):
        raise problem
    # A job depends on the time of its run and not on that of the look, so that it is the same each time.
    built = TableContext.build(table, catalog, operator, run.metadata.creation_timestamp or NO_TIME)
    context, fatal = with_valid_blocks(built, operator)
    if fatal and not registry.OPERATIONS.has_role(run.spec.type, Role.REMOVES_TABLE):
        raise fatal[0]
    marks = sorted(digest_of(owner_mark(operator.cluster_id, *each)) for each in owners_beside)
    return job_of(run, replace(context, owners_here=tuple(marks)), operator.cluster_id, executors)


def job_of(run: PaimonRun, context: TableContext, cluster_id: str, executors: JobExecutors | None = None) -> Job:
    """The job document of `run`, whose driver works alone without `executors`.

    Raises SpecError for what the manifest no longer has, RunEnvironmentError when it was edited after the decision.
    """
    operation = registry.OPERATIONS.of(run.spec.type)
    _check_permitted(operation, context)
    _check_unchanged(operation, run, context)
    metadata = context.table.metadata
    way = storage.access(context.catalog, context.engine)
    inspected = foreign_commits.inspected(context.table)
    return Job(
        run=JobRun(name=run.metadata.name, uid=run.metadata.uid, namespace=run.metadata.namespace),
        operation=run.spec.type,
        engine=context.engine.id,
        catalog=_catalog(context.catalog, way),
        hadoop=dict(way.hadoop_options),
        table=JobTable(database=context.spec.database, name=table_name(context.table)),
        owner=owner_mark(cluster_id, metadata.namespace, metadata.name),
        commit_user=naming.commit_user(run.metadata.name, run.metadata.uid),
        since_snapshot=inspected.seen_snapshot,
        since_commit=inspected.seen_commit,
        run_prefix=naming.run_prefix(metadata.name),
        user_runs=foreign_commits.known_user_runs(inspected),
        stop_at_foreign_commit=_stops(operation, context),
        bucket_count=state_of(context.table.status).bucket_count if _commits(operation) else None,
        spark=_spark(context.catalog, executors),
        parameters=operation.job(context, run),
    )


def _catalog(catalog: PaimonCatalog, way: Access) -> JobCatalog:
    metastore = storage.metastore_of(catalog).paimon_name
    return JobCatalog(warehouse=catalog.spec.warehouse, metastore=metastore, options=dict(way.catalog_options))


def _stops(operation: OperationSpec, context: TableContext) -> bool | None:
    """True for a run that must not commit beside a foreign writer. Verification commits no rows."""
    return (_commits(operation) and commit_safety.stops_at_foreign_commit(context)) or None


def _commits(operation: OperationSpec) -> bool:
    return operation.role is Role.ORDINARY and not operation.only_reads


def _spark(catalog: PaimonCatalog, executors: JobExecutors | None) -> JobSpark | None:
    own = catalog.spec.spark or CatalogSpark()
    found = JobSpark(conf=dict(own.spark_conf), executors=executors, event_log=own.event_log or None)
    return None if found == JobSpark() else found


def _check_permitted(operation: OperationSpec, context: TableContext) -> None:
    """The last guard before data is lost: whatever a run says, only its table's manifest can ask for the removal."""
    if operation.role is not Role.REMOVES_TABLE:
        return
    deleted = context.table.metadata.deletion_timestamp is not None
    if not deleted or context.spec.deletion_policy is not DeletionPolicy.DELETE:
        raise SpecError(
            "spec.type",
            "a table is dropped only while its PaimonTable is being deleted with deletionPolicy Delete",
            "Delete this run.",
            reason=Reason.INVALID_SPEC,
        )


def _check_unchanged(operation: OperationSpec, run: PaimonRun, context: TableContext) -> None:
    """A run realises the manifest that it was decided for. After an edit in between the table decides again."""
    if operation.role is Role.ORDINARY and was_switched(context, context.table.status):
        raise RunEnvironmentError(
            f"the engine was changed to {context.engine.id} after this run was decided",
            "The table is verified with the new engine first.",
            reason=Reason.SPEC_CHANGED,
        )
    active = context.table.status.active_run
    moved = was_moved(context, context.table.status) if operation.role is Role.ORDINARY else False
    if moved or (active is not None and active.place not in (None, place_of(context.table, context.catalog))):
        raise RunEnvironmentError(
            "the catalog's storage was moved after this run was decided",
            "The table is verified at its new place first.",
            reason=Reason.SPEC_CHANGED,
        )
    decided = run.spec.trigger.spec_hash if run.spec.trigger else None
    if decided is None or operation.is_still_asked_for(context, run, decided):
        return
    # No error of the manifest: an edit back again must not leave the table waiting for yet another edit.
    raise RunEnvironmentError(
        "the manifest was edited after this run was decided", "Another run follows.", reason=Reason.SPEC_CHANGED
    )
