"""A table that an older engine has made and written is taken over by a newer one: verified, unchanged, written on."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from paimon_engines.engine import is_older
from paimon_engines.loader import supported_engines
from tests.spark.lake import Lake
from tests.support.spark_home import spark_home
from tools.engines.fetch import fetch

pytestmark = pytest.mark.newest_engine
NEEDS_OLDER_ENGINE = True

COLUMNS = {"id": "BIGINT", "v": "STRING"}
OPTIONS = {"bucket": "1", "file.compression": "zstd", "snapshot.num-retained.min": "5"}


@pytest.fixture
def older(lake: Lake, tmp_path: Path) -> Lake:
    """The same table, worked on by the oldest engine that can be had."""
    ready = ((name, each, fetch(each).directory) for name, each in supported_engines().items())
    engine, jars = next((each, jars) for name, each, jars in ready if jars and is_older(name, lake.engine.id))
    return Lake(engine, None, spark_home(engine, jars), tmp_path, numbers=itertools.count(100))


def test_a_newer_engine_verifies_a_table_without_changing_it_and_writes_on(lake: Lake, older: Lake) -> None:
    body = {"columns": [{"name": name, "type": type_} for name, type_ in COLUMNS.items()], "primaryKeys": ["id"]}
    body |= {"partitionKeys": [], "options": OPTIONS, "adoption": "Fail"}
    lake.land("orders/1.csv", "id,v\n1,old\n2,old\n")
    for job in (older.job("Provision", provision=body), older.write_job()):
        done = older.drive(job)
        assert done.code == 0, done.log
    before = lake.schemas()

    verified = lake.provision(COLUMNS, keys=["id"], options=OPTIONS, adoption="Fail").ok()

    assert verified["created"] is False
    assert lake.schemas() == before, "every ALTER writes a schema"
    lake.land("orders/2.csv", "id,v\n2,new\n3,new\n")
    assert lake.write().ok()["write"]["files"] == 1, "the ledger of the older engine is read"
    assert lake.rows() == [{"id": 1, "v": "old"}, {"id": 2, "v": "new"}, {"id": 3, "v": "new"}]
