"""The edit of an existing table: its plan, refused where a step is not legal, or not approved."""

from __future__ import annotations

from dataclasses import dataclass, replace

from paimon_contract.job import Job
from paimon_contract.parameters.provision import ProvisionParameters
from paimon_engines.engine import Engine
from paimon_schema.plan import make_plan
from paimon_schema.table_schema import TableSchema
from spark_apps.catalog.bucket_layout import BUCKET, RESCALE_OPTION
from spark_apps.schema.alter import Alteration
from spark_apps.schema.declared import declared_schema
from spark_apps.schema.refusals import refuse_plan, unapproved
from spark_apps.schema.wording import Wording


@dataclass(frozen=True)
class Edit:
    """What is to be done, and the words for it."""

    alteration: Alteration
    wording: Wording


def planned_edit(job: Job, provision: ProvisionParameters, has: TableSchema, engine: Engine, *, is_own: bool) -> Edit:
    """The edit from the table's schema to the declared one. Raises RunError where none of it may be applied."""
    if is_own or provision.adoption == "Adopt":
        provision = _with_count_of(has, provision)
    declared = declared_schema(provision)
    wording, plan = Wording(declared, is_own), make_plan(has, declared, engine)
    refuse_plan(job, plan, declared, is_own=is_own)
    alteration = Alteration(plan, has.options, declared.digest)
    if provision.approve and not alteration.is_approved(provision.approved):
        raise unapproved(job, plan, wording)
    return Edit(alteration, wording)


def _with_count_of(has: TableSchema, provision: ProvisionParameters) -> ProvisionParameters:
    """The job with the number of buckets that the table has, where a rescale will change that.

    Otherwise a table whose number is edited before another engine verifies it could never be verified.
    """
    counts = has.options.get(BUCKET), provision.options.get(BUCKET)
    are_fixed = all(each is not None and each.isdecimal() for each in counts)
    if not are_fixed or not (provision.rescales or RESCALE_OPTION in has.options):
        return provision
    return replace(provision, options={**provision.options, BUCKET: str(counts[0])})
