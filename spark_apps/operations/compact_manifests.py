"""Merges the manifests of the latest snapshot by Paimon's procedure. It commits only if that changes anything."""

from __future__ import annotations

from paimon_contract.job import Job
from paimon_contract.parameters.compact_manifests import CompactManifestsParameters
from paimon_contract.result import Outcome
from spark_apps.catalog.measure import measure_at_start, measure_table, outcome_between
from spark_apps.catalog.session import Session
from spark_apps.failures.errors import spec_failure
from spark_apps.sql.identifiers import call, qualified

PARAMETERS = CompactManifestsParameters
_PROCEDURE = "compact_manifest"


def run(job: Job, session: Session) -> Outcome:
    """Merges them. Succeeds without a snapshot when there is none."""
    if not session.engine.has_argument(_PROCEDURE, "table"):
        raise spec_failure(
            "UnsupportedByEngine",
            f"engine {session.engine.id} cannot compact manifests",
            "use an engine that can",
            field="spec.type",
        )
    before = measure_at_start(session, session.table_at_start())
    if before.table.snapshot_id is not None:
        session.spark.sql(call(_PROCEDURE, {"table": qualified(job.table.database, job.table.name)})).collect()
    after = measure_table(session, session.table(), before=before)
    return outcome_between(before, after)
