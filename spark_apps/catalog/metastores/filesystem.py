"""No metastore: a table exists when its files lie in the warehouse."""

from __future__ import annotations

from spark_apps.catalog.metastores.base import Metastore


class Filesystem(Metastore):
    """Paimon's filesystem catalog."""
