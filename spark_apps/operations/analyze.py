"""Computes the statistics of the table and of its columns by Spark. They are a snapshot of kind ANALYZE."""

from __future__ import annotations

from paimon_contract.job import Job
from paimon_contract.parameters.analyze import AnalyzeParameters
from paimon_contract.result import Outcome
from spark_apps.catalog.measure import measure_at_start, measure_table, outcome_between
from spark_apps.catalog.session import Session
from spark_apps.failures.errors import spec_failure
from spark_apps.sql.identifiers import CATALOG, qualified

PARAMETERS = AnalyzeParameters


def run(job: Job, session: Session) -> Outcome:
    """Computes them. A table without a snapshot has no rows, and gets none."""
    if not session.engine.names_statistics:
        raise spec_failure(
            "UnsupportedByEngine",
            f"engine {session.engine.id} commits statistics under a random name, like a foreign commit",
            "use a newer engine",
            field="spec.type",
        )
    before = measure_at_start(session, session.table_at_start())
    if before.table.snapshot_id is not None:
        name = qualified(CATALOG, job.table.database, job.table.name)
        session.spark.sql(f"ANALYZE TABLE {name} COMPUTE STATISTICS FOR ALL COLUMNS")
    after = measure_table(session, session.table(), before=before)
    return outcome_between(before, after)
