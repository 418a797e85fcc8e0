"""Compares the table's schema with the one that the operator has left, and measures the table. Changes nothing."""

from __future__ import annotations

from typing import Final

from paimon_contract.job import Job
from paimon_contract.parameters.observe import ObserveParameters
from paimon_contract.parameters.provision import ProvisionParameters
from paimon_contract.result import Outcome, ResultDrift, ResultTable
from paimon_engines.engine import Engine
from paimon_schema.bucket_count import BUCKET
from paimon_schema.drift import DriftKind
from paimon_schema.drift_corrections import Corrections
from paimon_schema.plan import make_plan
from paimon_schema.steps import Refusal
from spark_apps.catalog.measure import measured
from spark_apps.catalog.session import Session
from spark_apps.catalog.warehouse_files import files_for
from spark_apps.metadata.base import MetadataFiles, UnreadableError
from spark_apps.metadata.table_files import TableFiles, location_of
from spark_apps.progress import log_step
from spark_apps.schema.declared import declared_with_count_of
from spark_apps.schema.drift import Drift, Schemas, SchemasOfTable, find_drift, result_of

PARAMETERS = ObserveParameters
COMMITS: Final = False
LOOKS: Final = True
_OWNER_REFUSAL: Final = "the mark of its owner has changed"
_REPLACED_REFUSAL: Final = "the table is another one than the operator has left"
_REFUSAL_LENGTH: Final = 200


def run(job: Job, session: Session) -> Outcome:
    """Reports what somebody else has changed. Raises RunError when the table does not exist any more."""
    schemas = SchemasOfTable(session.existing_table())
    found = observed(job, session.engine, schemas)
    if found is None:
        raise ValueError(f"the table {job.table} has no schema file")
    return Outcome(drift=found, table=_measured(job, files_for(session), schemas, found.schema_id))


def without_jvm(job: Job, engine: Engine, files: MetadataFiles) -> Outcome | None:
    """The same from the files alone; None without a table, of which the JVM says what is wrong."""
    schemas = TableFiles(files, location_of(job))
    found = observed(job, engine, schemas)
    return None if found is None else Outcome(drift=found, table=_measured(job, files, schemas, found.schema_id))


def _measured(job: Job, files: MetadataFiles, schemas: Schemas, schema_id: int) -> ResultTable | None:
    """The table's health; None where only Paimon could read it, for which no JVM is started."""
    schema = schemas.schema(schema_id)
    try:
        return None if schema is None else measured(files, location_of(job), schema).table
    except UnreadableError as error:
        log_step(f"the table is not measured: {error}")
        return None


def observed(job: Job, engine: Engine, schemas: Schemas) -> ResultDrift | None:
    """What the schema files show; None without any."""
    parameters = job.parameters_as(PARAMETERS)
    known = parameters.drift
    latest = schemas.latest_schema(None if known is None else known.schema_id)
    if latest is None:
        return None
    drift = find_drift(latest, schemas, known, engine)
    declared = declared_with_count_of(latest, parameters.table)
    corrections = Corrections(latest, declared, drift.changes, engine)
    refused = _refusal(drift, corrections, _refused_before(drift, parameters.table, engine))
    correctable = () if refused else corrections.taken_back
    # First, because the list is cut, and a rescale follows this option.
    changes = sorted(drift.changes, key=lambda each: each.field != BUCKET)
    return result_of(drift, job, known, changes=changes, correctable=correctable, refused=refused)


def _refused_before(drift: Drift, manifest: ProvisionParameters, engine: Engine) -> frozenset[Refusal]:
    """What the manifest could not reach from the schema that the operator has left: an edit of its own, which waits."""
    if drift.before is None:
        return frozenset()
    return frozenset(make_plan(drift.before, declared_with_count_of(drift.before, manifest), engine).refusals)


def _refusal(drift: Drift, corrections: Corrections, known: frozenset[Refusal]) -> str | None:
    """Why a run has to verify the table before anything else writes to it. What was refused before is no reason."""
    if not drift.found:
        return None
    if drift.is_replaced:
        return _REPLACED_REFUSAL
    if any(each.kind is DriftKind.OWNER_CHANGED for each in drift.found):
        return _OWNER_REFUSAL
    refusals = [each for each in corrections.plan.refusals if each not in known]
    return refusals[0].sentence[:_REFUSAL_LENGTH] if refusals else None
