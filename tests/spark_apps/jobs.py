"""Builder of jobs for tests of the Spark side."""

from __future__ import annotations

from typing import Any

from paimon_contract.job import Job, JobCatalog, JobRun, JobTable

CATALOG = JobCatalog("s3://lake/warehouse", "filesystem")


def job(**fields: Any) -> Job:
    """A Compact job of the table shop.orders without parameters. `fields` replace the usual fields of `Job`."""
    usual: dict[str, Any] = {
        "run": JobRun("r", "u", "shop"),
        "operation": "Compact",
        "engine": "paimon-1.4",
        "catalog": CATALOG,
        "table": JobTable("shop", "orders"),
        "owner": "o",
        "commit_user": "c",
        "parameters": None,
    }
    return Job(**usual | fields)
