"""Creates the table, or verifies and adopts an existing one. Needs no Spark SQL unless there is data to measure.

An existing table is altered by the plan of `paimon_schema`: all of it, or nothing where one step is not legal.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from paimon_contract.job import Job
from paimon_contract.owner_mark import digest_of
from paimon_contract.parameters.provision import ProvisionParameters
from paimon_contract.result import Outcome, ResultDrift
from paimon_engines.engine import Engine
from paimon_schema.option_changes import OWNER_OPTION, marks_of
from spark_apps.catalog.measure import measure_table
from spark_apps.catalog.ownership import name_of_owner, owner_of
from spark_apps.catalog.session import Session
from spark_apps.catalog.unregistered import register_own_table, schema_of_files
from spark_apps.failures.causes import root_message
from spark_apps.failures.errors import RunError, spec_failure
from spark_apps.loading.found_ledgers import found_writes
from spark_apps.loading.ledger import ledgers_of
from spark_apps.metadata.base import MetadataFiles
from spark_apps.metadata.table_files import TableFiles, location_of
from spark_apps.schema.column_types import column_type
from spark_apps.schema.declared import declared_schema, schema_of
from spark_apps.schema.drift import SchemasOfTable
from spark_apps.schema.drift_at_provision import DriftAtProvision
from spark_apps.schema.edit import Edit, planned_edit
from spark_apps.schema.isolate import invalid_part
from spark_apps.schema.left_schema import left_schema
from spark_apps.schema.mixed_buckets import needs_rescale
from spark_apps.schema.refusals import refuse_differences, refused_by_paimon

PARAMETERS = ProvisionParameters
ADOPTS = True

RECREATED_OPTION = "paimon-operator.recreated-by"
"""Table option by which a later attempt or run knows the creation of one whose result was lost."""


def run(job: Job, session: Session) -> Outcome:
    """Makes the table match the job, or raises RunError and leaves it unchanged."""
    provision = job.parameters_as(PARAMETERS)
    wanted = _wanted_schema(provision, session)
    table = session.table_found or register_own_table(job, session)
    if table is None:
        _refuse_missing(job, provision)
        _refuse_foreign_files(session)
        if provision.recreates:
            _forget_loads(job, session)
        _create(job, session, wanted)
        return _found(session, _created(session, provision), created=True)
    _refuse_foreign_owner(job, provision, table)
    _refuse_unadopted(job, provision, table)
    drift = DriftAtProvision(job, provision, SchemasOfTable(table), session.engine)
    edit = _planned(job, session, drift, table, wanted)
    mixed = needs_rescale(drift, table, session, is_own=edit.wording.is_own)
    left = _apply(job, session, drift, edit)
    loaded = tuple(found_writes(job, session, table, provision.unknown_writes or ()))
    created = _was_recreated(provision, table)
    return _found(session, left, created=created, differences=edit.sentences, loaded=loaded, mixed=mixed)


def without_jvm(job: Job, engine: Engine, files: MetadataFiles) -> None:
    """Refuses an edit of the PaimonTable's own table that is not legal, or not approved. The JVM does everything else.

    The schema is the one that the JVM would read: no other driver of the table runs at the same time. So the rest of a
    plan whose first commit has been made is judged here as it is there.
    """
    drift = DriftAtProvision(job, job.parameters_as(PARAMETERS), TableFiles(files, location_of(job)), engine)
    has = drift.latest
    if has is not None and has.options.get(OWNER_OPTION) == job.owner:
        planned_edit(drift, is_own=True)


def _found(session: Session, drift: ResultDrift, *, created: bool, mixed: bool = False, **more: Any) -> Outcome:
    """The outcome with the table as it is now, and the digests by which the operator knows its schema.

    `mixed`: a rescale has to make the table whole before anything else is written.
    """
    table = session.existing_table()
    measured = measure_table(session, table, is_new=created).table
    measured = dataclasses.replace(measured, rescaling=measured.rescaling or mixed or None)
    digest = schema_of(table).columns_digest
    return Outcome(table=measured, columns_digest=digest, drift=drift, created=created, **more)


def _created(session: Session, provision: ProvisionParameters) -> ResultDrift:
    """The first schema of the table, which the run has created: somebody may have altered that since."""
    schemas = SchemasOfTable(session.existing_table())
    drift = DriftAtProvision(session.job, dataclasses.replace(provision, drift=None), schemas, session.engine)
    return drift.after(schemas.schema(0) or drift.drift.latest)


def _planned(job: Job, session: Session, drift: DriftAtProvision, table: Any, wanted: Any) -> Edit:
    """The edit. Raises RunError where none of it may be applied, or where the table has to be identical and is not."""
    is_own = owner_of(table) == job.owner
    if drift.provision.adoption == "AdoptIfIdentical" and not is_own:
        refuse_differences(job, table, wanted, session.engine)
    return planned_edit(drift, is_own=is_own)


def _apply(job: Job, session: Session, drift: DriftAtProvision, edit: Edit) -> ResultDrift:
    """Applies the plan from the table to the manifest, as a whole or not at all. Returns what is left of the drift."""
    marks = {OWNER_OPTION: job.owner} | marks_of(edit.wording.declared)
    try:
        edit.alteration.apply(marks, session)
    except Exception as error:
        raise refused_by_paimon(job, error, is_own=edit.wording.is_own) from error
    left = left_schema(drift, edit.alteration, marks)
    return drift.after(left.schema, left.meanwhile)


def _was_recreated(provision: ProvisionParameters, table: Any) -> bool:
    """Whether an earlier attempt or run of the recreation created the table and could not report it."""
    mark: str | None = table.schema().options().get(RECREATED_OPTION)
    return mark is not None and mark == provision.recreation


def _refuse_missing(job: Job, provision: ProvisionParameters) -> None:
    """Raises RunError instead of creating a table that has existed: its data may come back."""
    if provision.last_observed is not None and not provision.recreates:
        raise RunError(
            "Environment",
            "TableMissing",
            f"the table {job.table} is missing; a run last observed it at {provision.last_observed}",
            "put its data back, or annotate the PaimonTable with "
            "paimon-operator.dev/recreate=<its metadata.generation> to recreate it, empty",
            field="spec.table",
        )


def _forget_loads(job: Job, session: Session) -> None:
    """Deletes the lists of loaded files: what they name was lost with the table, and is loaded again."""
    ledgers = session.path(ledgers_of(job))
    files = session.file_io(ledgers)
    if files.exists(ledgers):
        files.delete(ledgers, True)


def _options_at_creation(job: Job, provision: ProvisionParameters) -> dict[str, str]:
    mark = {RECREATED_OPTION: provision.recreation} if provision.recreates and provision.recreation else {}
    marks = marks_of(declared_schema(provision))
    return {**provision.options, OWNER_OPTION: job.owner, **marks, **mark}


def _wanted_schema(provision: ProvisionParameters, session: Session) -> Any:
    types = [column_type(each, session.jvm) for each in provision.columns]
    try:
        return _schema(provision, types, session)
    except Exception as error:
        raise _refused(error, provision, session) from error


def _schema(provision: ProvisionParameters, types: list[Any], session: Session) -> Any:
    builder = session.jvm.org.apache.paimon.schema.Schema.newBuilder()
    for column, type_ in zip(provision.columns, types, strict=True):
        default = () if column.default_value is None else (column.default_value,)  # 0.9 takes none
        builder.column(column.name, type_, column.comment or None, *default)
    builder.primaryKey(session.java_list(provision.primary_keys))
    builder.partitionKeys(session.java_list(provision.partition_keys))
    builder.options(session.java_map(_options_at_creation(session.job, provision)))
    builder.comment(provision.comment or None)
    return builder.build()


def _create(job: Job, session: Session, wanted: Any) -> None:
    """Validates first, so that a refused table does not even leave a database behind."""
    try:
        _validate(wanted, session)
    except Exception as error:
        raise _refused(error, job.parameters_as(PARAMETERS), session) from error
    session.catalog.createDatabase(job.table.database, True)
    session.metastore.prepare_creation(session)
    session.catalog.createTable(session.identifier, wanted, False)


def _refuse_foreign_files(session: Session) -> None:
    """Raises RunError when the table's location holds another owner's table that the metastore does not list."""
    if session.metastore.registers_tables and schema_of_files(session) is not None:
        said = f"{session.own_location} holds a table that the metastore does not list"
        remedy = "have the metastore list it (CALL sys.repair), remove it, or use another table name"
        raise spec_failure("TableExists", said, remedy, field="spec.table")


def _validate(wanted: Any, session: Session) -> None:
    package, fields = session.jvm.org.apache.paimon.schema, wanted.fields()
    highest = session.jvm.org.apache.paimon.types.RowType.currentHighestFieldId(fields)
    keys = (wanted.partitionKeys(), wanted.primaryKeys())
    checked = package.TableSchema(0, fields, highest, *keys, wanted.options(), wanted.comment())
    package.SchemaValidation.validateTableSchema(checked)


def _refused(error: Exception, provision: ProvisionParameters, session: Session) -> RunError:
    """Paimon's message, and the part of the manifest without which it would accept the table."""

    def validate(without: ProvisionParameters) -> None:
        types = [column_type(column, session.jvm) for column in without.columns]
        _validate(_schema(without, types, session), session)

    field = invalid_part(_with_one_part_less(provision), _growing(provision), validate)
    said = f"Paimon refuses the table: {root_message(error)}"
    return spec_failure("TableRefused", said, "correct the manifest", field=field)


def _with_one_part_less(provision: ProvisionParameters) -> Iterator[tuple[str, ProvisionParameters]]:
    """Field -> the table without it; the fields that are wrong most often come first."""
    for option in provision.options:
        rest = {key: value for key, value in provision.options.items() if key != option}
        yield f"spec.options[{option}]", dataclasses.replace(provision, options=rest)
    yield "spec.schema.partitionKeys", dataclasses.replace(provision, partition_keys=())
    yield "spec.schema.primaryKeys", dataclasses.replace(provision, primary_keys=())
    for column in provision.columns:
        others = tuple(each for each in provision.columns if each is not column)
        yield f"spec.schema.columns[{column.name}]", dataclasses.replace(provision, columns=others)


def _growing(provision: ProvisionParameters) -> Iterator[tuple[str, ProvisionParameters]]:
    """Field -> the table up to that field: columns, keys, one option after the other."""
    so_far = dataclasses.replace(provision, primary_keys=(), partition_keys=(), options={})
    yield "spec.schema.columns", so_far
    so_far = dataclasses.replace(so_far, primary_keys=provision.primary_keys)
    yield "spec.schema.primaryKeys", so_far
    so_far = dataclasses.replace(so_far, partition_keys=provision.partition_keys)
    yield "spec.schema.partitionKeys", so_far
    for option, value in provision.options.items():
        so_far = dataclasses.replace(so_far, options={**so_far.options, option: value})
        yield f"spec.options[{option}]", so_far


def _refuse_foreign_owner(job: Job, provision: ProvisionParameters, table: Any) -> None:
    owner = owner_of(table)
    if owner is None or owner == job.owner:
        return
    said = f"the table {job.table} is owned by {name_of_owner(job, owner)}"
    remedy = "delete one of the two PaimonTables"
    if provision.adoption != "Adopt":
        remedy += ", or set adoptionPolicy to Adopt if that owner is gone"
        raise spec_failure("Conflict", said, remedy, field="spec.adoptionPolicy")
    if digest_of(owner) in (provision.owners_here or ()):
        said += ", which this cluster still has: Adopt takes nothing from it"
        raise spec_failure("Conflict", said, remedy, field="spec.adoptionPolicy")


def _refuse_unadopted(job: Job, provision: ProvisionParameters, table: Any) -> None:
    if provision.adoption == "Fail" and owner_of(table) != job.owner:
        raise spec_failure(
            "TableExists",
            f"the table {job.table} exists already and adoptionPolicy is Fail",
            "set adoptionPolicy to AdoptIfIdentical or Adopt, or use another table name",
            field="spec.adoptionPolicy",
        )
