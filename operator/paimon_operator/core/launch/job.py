"""What a run's driver is given: one JSON document, made from the table, its catalog and the run."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.contract import Job, JobCatalog, JobExecutors, JobRun, JobSpark, JobTable
from paimon_operator.api.policies import DeletionPolicy
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import RunType
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core import storage
from paimon_operator.core.commits import foreign_commits
from paimon_operator.core.config import OperatorFacts
from paimon_operator.core.operations.data import write
from paimon_operator.core.operations.maintenance import compact, expire_snapshots
from paimon_operator.core.operations.schema import drop
from paimon_operator.core.spec.context import Look
from paimon_operator.core.spec.desired_table import desired_table
from paimon_operator.core.spec.identity import table_name
from paimon_operator.core.validation.catalog import catalog_problems
from paimon_operator.core.validation.table import broken_rules
from paimon_operator.errors import SpecError, SurroundingsError

NO_TIME: Final = datetime.min.replace(tzinfo=UTC)


def build_job(
    run: PaimonRun,
    table: PaimonTable,
    catalog: PaimonCatalog,
    operator: OperatorFacts,
    executors: JobExecutors | None = None,
) -> Job:
    """The job document of `run`, as `job_of`; raises SpecError for a catalog that is wrong too."""
    for problem in catalog_problems(catalog, operator):
        raise problem
    # A job does not depend on the time of day; the look wants one.
    look = Look.at(table, catalog, operator, table.metadata.creation_timestamp or NO_TIME)
    return job_of(run, look, operator.cluster_id, executors)


def job_of(run: PaimonRun, look: Look, cluster_id: str, executors: JobExecutors | None = None) -> Job:
    """The job document of `run`, whose driver works alone without `executors`.

    Raises SpecError for what the manifest no longer has, SurroundingsError when it was edited after the decision.
    """
    _permitted(run, look)
    _same_as_decided(run, look)
    metadata = look.table.metadata
    way = storage.access(look.catalog, look.engine)
    return Job(
        run=JobRun(name=run.metadata.name, uid=run.metadata.uid, namespace=run.metadata.namespace),
        operation=run.spec.type,
        engine=look.engine.id,
        catalog=JobCatalog(
            warehouse=look.catalog.spec.warehouse,
            metastore=storage.METASTORES[storage.metastore_type(look.catalog)],
            options=dict(way.catalog_options),
        ),
        hadoop=dict(way.hadoop_options),
        table=JobTable(database=look.spec.database, name=table_name(look.table)),
        owner=f"{cluster_id}/{metadata.namespace}/{metadata.name}",
        commit_user=f"{run.metadata.name}-{run.metadata.uid}",
        since_snapshot=foreign_commits.since(look.table),
        spark=_spark(look.catalog, executors),
        **_member(run, look),
    )


def _spark(catalog: PaimonCatalog, executors: JobExecutors | None) -> JobSpark | None:
    conf = catalog.spec.spark.spark_conf if catalog.spec.spark else {}
    return JobSpark(conf=dict(conf), executors=executors) if conf or executors else None


def _member(run: PaimonRun, look: Look) -> dict[str, Any]:
    match run.spec.type:
        case RunType.PROVISION:
            return {"provision": desired_table(look.spec, look.holds)}
        case RunType.WRITE:
            return {"write": write.job(look, run)}
        case RunType.COMPACT:
            return {"compact": compact.job(look, run)}
        case RunType.EXPIRE_SNAPSHOTS:
            return {"expire_snapshots": expire_snapshots.job(look)}
        case RunType.DROP:
            return {"drop": drop.job()}


def _permitted(run: PaimonRun, look: Look) -> None:
    """The last guard before data is lost: whatever a run says, only its table's manifest can ask for a Drop."""
    if run.spec.type is not RunType.DROP:
        for error in broken_rules(look):
            raise error
        return
    deleted = look.table.metadata.deletion_timestamp is not None
    if not deleted or look.spec.deletion_policy is not DeletionPolicy.DELETE:
        raise SpecError(
            "spec.type",
            "a table is dropped only while its PaimonTable is being deleted with deletionPolicy Delete",
            "Delete this run.",
            reason=Reason.INVALID_SPEC,
        )


def _same_as_decided(run: PaimonRun, look: Look) -> None:
    """A run realises the manifest that it was decided for; after an edit in between the table decides anew."""
    decided = run.spec.trigger.spec_hash if run.spec.trigger else None
    if decided is None:
        return
    if run.spec.type is RunType.PROVISION:
        current = look.wanted_hash
    else:
        name = run.spec.write.name if run.spec.write else None
        current = next((write.write_hash(each) for each in look.spec.writes if each.name == name), decided)
    if current != decided:
        # No error of the manifest: an edit back again must not leave the table waiting for yet another edit.
        raise SurroundingsError(
            "the manifest was edited after this run was decided", "Another run follows.", reason=Reason.PENDING
        )
