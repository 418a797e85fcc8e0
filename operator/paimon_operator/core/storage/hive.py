"""A Hive metastore: its address is all that Spark needs, since nobody is asked who he is there."""

from __future__ import annotations

from paimon_operator.api.catalog.metastore import Hive
from paimon_operator.core.storage.access import Access


def access(hive: Hive) -> Access:
    """The options of the metastore; what must always be set (lock, time-outs) the Spark side adds."""
    return Access(catalog_options={"uri": hive.uri})
