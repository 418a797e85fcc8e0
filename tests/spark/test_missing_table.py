"""A table that has existed and is missing is reported. Its user has it recreated, or puts the data back."""

from __future__ import annotations

import shutil

import pytest

from tests.spark.lake import Lake

pytestmark = pytest.mark.newest_engine
SEEN = "2026-11-21T08:00:00Z"
COLUMNS = {"id": "BIGINT"}


@pytest.fixture
def loaded(lake: Lake) -> Lake:
    lake.provision(COLUMNS, options={"bucket": "-1"}).ok()
    lake.land("orders/1.csv", "id\n1\n")
    lake.write(mode="Append").ok()
    return lake


def test_a_missing_table_is_not_created_and_its_data_can_be_put_back(loaded: Lake) -> None:
    away = loaded.table_directory.with_name("away")
    loaded.table_directory.rename(away)

    message = loaded.provision(COLUMNS, options={"bucket": "-1"}, lastObserved=SEEN).blocked("TableMissing")

    assert SEEN in message
    assert not loaded.table_directory.exists()

    away.rename(loaded.table_directory)
    assert loaded.provision(COLUMNS, options={"bucket": "-1"}, lastObserved=SEEN).ok()["created"] is False
    assert loaded.rows() == [{"id": 1}]


def test_a_table_that_is_recreated_loads_its_files_again(loaded: Lake) -> None:
    shutil.rmtree(loaded.table_directory)
    body = {"columns": [{"name": "id", "type": "BIGINT"}], "options": {"bucket": "-1"}, "adoption": "AdoptIfIdentical"}
    again = loaded.job(
        "Provision", run="again", provision=body | {"lastObserved": SEEN, "recreates": True, "recreation": "again"}
    )
    later_run = loaded.job("Provision", run="later", provision=body | {"lastObserved": SEEN, "recreation": "again"})

    assert loaded.perform(again).ok()["created"] is True
    assert loaded.perform(again).ok()["created"] is True, "a second attempt of the run knows its own table"
    assert loaded.perform(later_run).ok()["created"] is True, "so does another run of the same recreation"
    later = loaded.provision(COLUMNS, options={"bucket": "-1"}, lastObserved=SEEN).ok()
    assert (later["created"], later.get("differences")) == (False, None), "the mark of the creation alters nothing"

    loaded.write(mode="Append").ok()
    assert loaded.rows() == [{"id": 1}]
