"""What the jobs of one driver open once: Paimon's catalog and what it is opened with."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock, Mock

import pytest

from paimon_contract.job import JobCatalog
from paimon_engines.loader import load_engine
from spark_apps.catalog.metastores import metastore_of
from spark_apps.catalog.session import Session
from spark_apps.storage import storage_of
from tests.spark_apps.jobs import job

ENGINE = load_engine("paimon-1.4")
OPTIONS = {"s3.endpoint": "http://s3.example:9000"}


@pytest.fixture
def jvm() -> Any:
    """A JVM that makes a new object at each call."""
    made = MagicMock()
    made.org.apache.paimon.catalog.CatalogFactory.createCatalog.side_effect = lambda _: Mock()
    return made


def session_of(jvm: Any, table: str, kind: str = "filesystem", **options: str) -> Session:
    of = job(catalog=JobCatalog("s3://lake/warehouse", kind, OPTIONS | options), owner=table)
    session = Session(of, ENGINE, metastore_of(of.catalog, ENGINE), storage_of(of, ENGINE))
    session.__dict__["jvm"] = jvm
    return session


def made(jvm: Any) -> tuple[int, int]:
    """How many Configurations of Hadoop and catalogs of Paimon there were."""
    configurations = jvm.org.apache.hadoop.conf.Configuration.call_count
    return configurations, jvm.org.apache.paimon.catalog.CatalogFactory.createCatalog.call_count


def test_jobs_of_one_catalog_share_it_and_none_closes_it(jvm: Any) -> None:
    first, second = session_of(jvm, "a"), session_of(jvm, "b")
    catalog = first.catalog
    first.close()
    assert second.catalog is catalog
    assert made(jvm) == (1, 1)
    catalog.close.assert_not_called()


def test_a_job_of_another_catalog_gets_its_own(jvm: Any) -> None:
    first, second = session_of(jvm, "a"), session_of(jvm, "b", **{"s3.endpoint": "http://other.example"})
    assert first.catalog is not second.catalog


def test_a_catalog_with_a_connection_to_a_server_is_of_one_job_which_closes_it(jvm: Any) -> None:
    first, second = session_of(jvm, "a", "hive"), session_of(jvm, "b", "hive")
    catalog = first.catalog
    assert second.catalog is not catalog
    first.close()
    catalog.close.assert_called_once()
    second.catalog.close.assert_not_called()
    assert made(jvm) == (1, 2)


def test_a_catalog_that_could_not_be_opened_is_tried_again(jvm: Any) -> None:
    create = jvm.org.apache.paimon.catalog.CatalogFactory.createCatalog
    create.side_effect = [OSError("the storage is away"), Mock()]
    with pytest.raises(OSError, match="the storage is away"):
        _ = session_of(jvm, "a").catalog
    assert session_of(jvm, "b").catalog is not None
