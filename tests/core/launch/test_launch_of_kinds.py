"""The Launch for each type of metastore: only one that records host names with its locks gets a host name."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from paimon_operator.core.launch.builder import LaunchBuilder
from tests.support import builders

BUILDER = LaunchBuilder(
    operator=builders.operator_facts(),
    images={"paimon-1.4": "spark:1"},
    pull_policy="Never",
    pending_timeout=timedelta(minutes=10),
    cpu_share=1.0,
)
JDBC = {"type": "Jdbc", "jdbc": {"uri": "jdbc:postgresql://pg/lake", "credentialsSecretRef": {"name": "lake-pg"}}}
HIVE = {"type": "Hive", "hive": {"uri": "thrift://hms:9083"}}


@pytest.mark.parametrize(("metastore", "shared"), [(None, False), (JDBC, False), (HIVE, True)])
def test_only_with_hive_the_drivers_of_a_table_share_a_host_name(
    metastore: dict[str, Any] | None, *, shared: bool
) -> None:
    table = builders.table(compaction={"mode": "Dedicated"})
    run = builders.run("r1", table=table)
    launch = BUILDER.launch_of(run, table, builders.catalog(metastore=metastore))
    assert launch.table_host_name is shared
