"""Makes the table, or verifies the one that is there and adopts it. Needs no Spark SQL unless there is data to measure.

Nothing is written when nothing differs: every ALTER makes a schema file, even one that changes nothing. Only options
that Paimon lets change without changing answers are altered (Engine.changeable), and the comments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spark_apps.column_types import parse_type
from spark_apps.contract import Outcome
from spark_apps.failures import RunError, root_message, spec_failure
from spark_apps.measure import measure_table
from spark_apps.ownership import OWNER_OPTION, owner_of

if TYPE_CHECKING:
    from spark_apps.contract import Job, ProvisionJob
    from spark_apps.session import Session

MANAGED_OPTION = "paimon-operator.options"
"""Table option that lists which options came from the manifest, so that one which leaves it is taken back."""

ASSIGNED_BY_PAIMON = frozenset({"path", "type"})


def run(job: Job, session: Session) -> Outcome:
    """Leaves the table as the job says, or raises RunError and leaves it as it was."""
    provision = job.provision
    assert provision is not None  # noqa: S101  (contract.read_job saw to it)
    wanted = _wanted_schema(provision, session)
    table = session.find_table()
    if table is None:
        _create(job, session, wanted)
        return Outcome(created=True, table=measure_table(session, session.table()).table)
    _refuse_foreign_owner(job, table)
    _refuse_unadopted(job, provision, table)
    found = differences(table.schema(), wanted, session)
    if found:
        said = "; ".join(found)
        remedy = "make the manifest equal to the table, or use another table name"
        raise spec_failure("TableDiffers", f"the table {job.table} differs: {said}", remedy, field="spec.schema")
    altered = _alter(job, session, table, provision)
    return Outcome(created=False, differences=altered, table=measure_table(session, session.table()).table)


def desired_options(job: Job) -> dict[str, str]:
    """All options the operator answers for, the two that say so among them."""
    provision = job.provision
    assert provision is not None  # noqa: S101
    return {
        **provision.options,
        OWNER_OPTION: job.owner,
        **({MANAGED_OPTION: ",".join(sorted(provision.options))} if provision.options else {}),
    }


def _wanted_schema(provision: ProvisionJob, session: Session) -> Any:
    builder = session.jvm.org.apache.paimon.schema.Schema.newBuilder()
    for column in provision.columns:
        builder.column(column.name, parse_type(column.type, session.jvm), column.comment or None)
    builder.primaryKey(session.java_list(provision.primary_keys))
    builder.partitionKeys(session.java_list(provision.partition_keys))
    builder.options(session.java_map(desired_options(session.job)))
    builder.comment(provision.comment or None)
    try:
        return builder.build()
    except Exception as error:
        raise _refused(error) from error


def _create(job: Job, session: Session, wanted: Any) -> None:
    """Paimon's checks come first, so that a refused table leaves not even a database behind."""
    package, fields = session.jvm.org.apache.paimon.schema, wanted.fields()
    highest = session.jvm.org.apache.paimon.types.RowType.currentHighestFieldId(fields)
    keys = (wanted.partitionKeys(), wanted.primaryKeys())
    try:
        checked = package.TableSchema(0, fields, highest, *keys, wanted.options(), wanted.comment())
        package.SchemaValidation.validateTableSchema(checked)
    except Exception as error:
        raise _refused(error) from error
    session.catalog.createDatabase(job.table.database, True)
    session.catalog.createTable(session.identifier, wanted, False)


def _refused(error: Exception) -> RunError:
    said = f"Paimon refuses the table: {root_message(error)}"
    return spec_failure("TableRefused", said, "correct the manifest", field="spec")


def _refuse_foreign_owner(job: Job, table: Any) -> None:
    owner = owner_of(table)
    if owner is not None and owner != job.owner:
        raise spec_failure(
            "Conflict",
            f"the table {job.table} is owned by {owner}",
            f"delete one of the two objects, or remove the table option {OWNER_OPTION} if that owner is gone",
            field="spec.table",
        )


def _refuse_unadopted(job: Job, provision: ProvisionJob, table: Any) -> None:
    if provision.adoption == "Fail" and owner_of(table) != job.owner:
        raise spec_failure(
            "TableExists",
            f"the table {job.table} exists already and adoptionPolicy is Fail",
            "set adoptionPolicy to AdoptIfIdentical, or use another table name",
            field="spec.adoptionPolicy",
        )


def differences(schema: Any, wanted: Any, session: Session) -> list[str]:
    """What cannot be altered and differs, one short sentence each."""
    found = _column_differences(schema.fields(), wanted.fields())
    for what, has, wants in (
        ("primary key", schema.primaryKeys(), wanted.primaryKeys()),
        ("partition keys", schema.partitionKeys(), wanted.partitionKeys()),
    ):
        if list(has) != list(wants):
            found.append(f"{what}: table has {_listed(has)}, manifest has {_listed(wants)}")
    return found + _option_differences(schema, wanted, session)


def _column_differences(has: Any, wants: Any) -> list[str]:
    table = {field.name(): field.type().asSQLString() for field in has}
    manifest = {field.name(): field.type().asSQLString() for field in wants}
    found = [f"column {name}: only the table has it" for name in table if name not in manifest]
    found += [f"column {name}: only the manifest has it" for name in manifest if name not in table]
    found += [
        f"column {name}: table has {table[name]}, manifest has {manifest[name]}"
        for name in manifest
        if name in table and table[name] != manifest[name]
    ]
    if not found and list(table) != list(manifest):
        found.append(f"column order: table has {_listed(table)}, manifest has {_listed(manifest)}")
    return found


def _option_differences(schema: Any, wanted: Any, session: Session) -> list[str]:
    defaults = session.engine.option_defaults
    has, wants = dict(schema.options()), dict(wanted.options())
    frozen = sorted(name for name in has.keys() | wants.keys() if not session.engine.changeable(name))
    pairs = [(name, has.get(name, defaults.get(name)), wants.get(name, defaults.get(name))) for name in frozen]
    return [f"option {name}: table has {has}, manifest has {wants}" for name, has, wants in pairs if has != wants]


def _alter(job: Job, session: Session, table: Any, provision: ProvisionJob) -> tuple[str, ...]:
    """Brings options and comments to what the job says, in one ALTER, or in none."""
    changes, said = session.jvm.java.util.ArrayList(), []
    change = session.jvm.org.apache.paimon.schema.SchemaChange
    has, wants = dict(table.schema().options()), desired_options(job)
    for name, value in sorted(wants.items()):
        if has.get(name, session.engine.option_defaults.get(name)) != value:
            changes.add(change.setOption(name, value))
            said.append(f"option {name}: {has.get(name, 'unset')} -> {value}")
    for name in sorted(_left_the_manifest(has, wants)):
        changes.add(change.removeOption(name))
        said.append(f"option {name}: {has[name]} -> unset")
    comments = {field.name(): field.description() for field in table.schema().fields()}
    for column in provision.columns:
        if column.comment and comments[column.name] != column.comment:
            changes.add(change.updateColumnComment(column.name, column.comment))
            said.append(f"comment of column {column.name}")
    if provision.comment and table.schema().comment() != provision.comment:
        changes.add(change.updateComment(provision.comment))
        said.append("comment of the table")
    if not changes.isEmpty():
        session.catalog.alterTable(session.identifier, changes, False)
    return tuple(said)


def _left_the_manifest(has: dict[str, str], wants: dict[str, str]) -> set[str]:
    managed = set(has.get(MANAGED_OPTION, "").split(",")) | {MANAGED_OPTION}
    return {name for name in has if name in managed and name not in wants} - ASSIGNED_BY_PAIMON


def _listed(names: Any) -> str:
    return ", ".join(names) or "none"
