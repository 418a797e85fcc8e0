"""The kinds of metastore: one class per kind. Only `metastore_of` decides on the kind."""

from __future__ import annotations

from paimon_contract.job import JobCatalog
from paimon_engines.engine import Engine
from spark_apps.catalog.metastores.base import Metastore
from spark_apps.catalog.metastores.filesystem import Filesystem
from spark_apps.catalog.metastores.hive import Hive
from spark_apps.catalog.metastores.jdbc import Jdbc
from spark_apps.failures.errors import RunError


def metastore_of(catalog: JobCatalog, engine: Engine) -> Metastore:
    """The metastore of a job's catalog, by Paimon's name for its kind. Raises RunError for an unknown kind."""
    match catalog.metastore:
        case "filesystem":
            return Filesystem()
        case "jdbc":
            return Jdbc(catalog, engine)
        case "hive":
            return Hive(engine)
    raise RunError(
        "Environment",
        "EngineMismatch",
        f"this image knows no metastore of type {catalog.metastore}",
        "set the image of the operator's release in the operator's settings",
        field="spec.metastore.type",
    )
