"""Creates the table, or verifies and adopts an existing one. Needs no Spark SQL unless there is data to measure.

Nothing is written when nothing differs: every ALTER writes a schema file, even one that changes nothing. Only comments
and the options that do not change query results are altered (Engine.changeable).

An option or comment that leaves the manifest is removed if the manifest had set it; two options of the table record
that. What an adopted table had before, and no manifest ever set, stays.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from paimon_contract.job import Job
from paimon_contract.owner_mark import digest_of
from paimon_contract.parameters.provision import ProvisionParameters
from paimon_contract.result import Outcome
from spark_apps.catalog.measure import measure_table
from spark_apps.catalog.ownership import OWNER_OPTION, name_of_owner, owner_of
from spark_apps.catalog.session import Session
from spark_apps.catalog.unregistered import register_own_table, schema_of_files
from spark_apps.failures.causes import root_message
from spark_apps.failures.errors import RunError, spec_failure
from spark_apps.loading.found_ledgers import found_writes
from spark_apps.loading.ledger import ledgers_of
from spark_apps.schema.column_types import column_type
from spark_apps.schema.differences import ASSIGNED_BY_PAIMON, differences
from spark_apps.schema.isolate import invalid_part

PARAMETERS = ProvisionParameters

MANAGED_OPTION = "paimon-operator.options"
"""Table option that lists the options set by the manifest, so that one which leaves the manifest is removed."""

COMMENTED_OPTION = "paimon-operator.comments"
"""The same for comments: the columns whose comment the manifest has set, and OF_TABLE."""

RECREATED_OPTION = "paimon-operator.recreated-by"
"""Table option by which a later attempt or run knows the creation of one whose result was lost."""

OF_TABLE = "<table>"
"""Stands for the table's own comment; no column can have this name."""


def run(job: Job, session: Session) -> Outcome:
    """Makes the table match the job, or raises RunError and leaves it unchanged."""
    provision = job.parameters_as(PARAMETERS)
    wanted = _wanted_schema(provision, session)
    table = session.find_table() or register_own_table(job, session)
    if table is None:
        _refuse_missing(job, provision)
        _refuse_foreign_files(session)
        if provision.recreates:
            _forget_loads(job, session)
        _create(job, session, wanted)
        return Outcome(created=True, table=measure_table(session, session.existing_table()).table)
    _refuse_foreign_owner(job, provision, table)
    _refuse_unadopted(job, provision, table)
    adopts_identical = provision.adoption == "AdoptIfIdentical" and owner_of(table) != job.owner
    _refuse_differences(job, session, table, wanted, all_options=adopts_identical)
    altered = _alter(job, session, table, provision)
    measured = measure_table(session, session.existing_table()).table
    loaded = tuple(found_writes(job, session, table, provision.unknown_writes or ()))
    return Outcome(created=_was_recreated(provision, table), differences=altered, table=measured, loaded=loaded)


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


def desired_options(job: Job, provision: ProvisionParameters) -> dict[str, str]:
    """All options that the operator sets, with the three that record it."""
    lists = {MANAGED_OPTION: provision.options, COMMENTED_OPTION: _comments(provision)}
    said = {option: ",".join(sorted(names)) for option, names in lists.items() if names}
    return {**provision.options, OWNER_OPTION: job.owner, **said}


def _options_at_creation(job: Job, provision: ProvisionParameters) -> dict[str, str]:
    mark = {RECREATED_OPTION: provision.recreation} if provision.recreates and provision.recreation else {}
    return desired_options(job, provision) | mark


def _comments(provision: ProvisionParameters) -> dict[str, str]:
    """The comments of the manifest, by column; that of the table is OF_TABLE."""
    given = {column.name: column.comment for column in provision.columns} | {OF_TABLE: provision.comment}
    return {name: comment for name, comment in given.items() if comment}


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


def _refuse_differences(job: Job, session: Session, table: Any, wanted: Any, *, all_options: bool) -> None:
    is_own = owner_of(table) == job.owner
    found = differences(table.schema(), wanted, session.engine, all_options=all_options, is_own=is_own)
    if found:
        said = "; ".join(each.sentence for each in found)
        remedy = "make the manifest equal to the table, or use another table name"
        if all_options:
            remedy += "; adoptionPolicy Adopt keeps options that can be altered, and alters those in the manifest"
        raise spec_failure("TableDiffers", f"the table {job.table} differs: {said}", remedy, field=found[0].field)


def _alter(job: Job, session: Session, table: Any, provision: ProvisionParameters) -> tuple[str, ...]:
    """Sets options and comments as in the job, in one ALTER, or in none. Returns what it changed."""
    steps = [*_option_steps(job, session, table, provision), *_comment_steps(session, table, provision)]
    if steps:
        session.catalog.alterTable(session.identifier, session.java_list(change for change, _ in steps), False)
    return tuple(said for _, said in steps)


def _option_steps(job: Job, session: Session, table: Any, provision: ProvisionParameters) -> Iterator[tuple[Any, str]]:
    change = session.jvm.org.apache.paimon.schema.SchemaChange
    stored = dict(table.schema().options())
    has, wants = session.engine.canonical(stored), desired_options(job, provision)
    for name, value in sorted(wants.items()):
        if has.get(name, session.engine.default_of(name)) != value:
            yield change.setOption(name, value), f"option {name}: {has.get(name, 'unset')} -> {value}"
    managed = {*_names(has, MANAGED_OPTION), MANAGED_OPTION, COMMENTED_OPTION} - ASSIGNED_BY_PAIMON
    left = managed & has.keys() - wants.keys()
    for name, key in sorted((session.engine.present_name(key), key) for key in stored):
        if name in left:
            yield change.removeOption(key), f"option {name}: {stored[key]} -> unset"


def _comment_steps(session: Session, table: Any, provision: ProvisionParameters) -> Iterator[tuple[Any, str]]:
    change, schema = session.jvm.org.apache.paimon.schema.SchemaChange, table.schema()
    has = {field.name(): field.description() for field in schema.fields()} | {OF_TABLE: schema.comment()}
    wants = _comments(provision)
    left = _names(dict(schema.options()), COMMENTED_OPTION) - wants.keys()
    for name, comment in has.items():
        wanted = wants.get(name, None if name in left else comment)
        if (comment or None) == (wanted or None):
            continue
        if name == OF_TABLE:
            yield change.updateComment(wanted), "comment of the table"
        else:
            yield change.updateColumnComment(name, wanted), f"comment of column {name}"


def _names(options: dict[str, str], key: str) -> set[str]:
    return set(options.get(key, "").split(",")) - {""}
