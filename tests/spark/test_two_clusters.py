"""Two clusters with the same manifests on one warehouse: one manages the table, the other takes it over when asked."""

from __future__ import annotations

from typing import Any

from paimon_contract.owner_mark import digest_of
from tests.spark.lake import OWNER, Ended, Lake

COLUMNS = {"id": "BIGINT", "v": "STRING"}
OPTIONS = {"bucket": "1", "merge-engine": "deduplicate"}
SECOND = "second-cluster/shop/orders"


def provision(lake: Lake, owner: str, **more: Any) -> Ended:
    """Provision by the PaimonTable `owner`."""
    columns = [{"name": name, "type": type_} for name, type_ in COLUMNS.items()]
    body = {"columns": columns, "primaryKeys": ["id"], "options": OPTIONS, "adoption": "AdoptIfIdentical"} | more
    return lake.perform(lake.job("Provision", provision=body) | {"owner": owner})


def test_the_second_cluster_waits_and_then_adopts_without_losing_a_row(lake: Lake) -> None:
    lake.provision(COLUMNS, keys=["id"], options=OPTIONS).ok()
    lake.land("orders/1.csv", "id,v\n1,first\n")
    lake.write().ok()

    message = provision(lake, SECOND).refused("Conflict")
    assert "another cluster" in message
    assert "cluster-uid" not in message, "names of other clusters' objects stay there"

    assert provision(lake, SECOND, adoption="Adopt").ok()["created"] is False
    assert lake.rows() == [{"id": 1, "v": "first"}]
    assert provision(lake, SECOND, adoption="Adopt").ok().get("differences") is None, "the second look alters nothing"

    assert "another cluster" in lake.compact().blocked("Conflict"), "the first cluster's runs stop"
    lake.land("orders/2.csv", "id,v\n2,second\n")
    assert lake.perform(lake.write_job() | {"owner": SECOND}).ok()["write"]["rows"] == 1, "the ledger moved along"
    assert lake.rows() == [{"id": 1, "v": "first"}, {"id": 2, "v": "second"}]


def test_a_run_that_adopts_reports_the_writes_that_the_ledger_shows_as_done(lake: Lake) -> None:
    lake.provision(COLUMNS, keys=["id"], options=OPTIONS).ok()
    lake.land("orders/1.csv", "id,v\n1,first\n")
    lake.write(once=True).ok()
    before = sorted(lake.ledger_directory.iterdir())
    done = {"name": "import", "hash": "h1"}
    others = [{"name": "edited", "hash": "h2"}, {"name": "same-content", "hash": "h1"}]
    asked = [{**each, "ledger": lake.ledger_of(each["name"]).as_uri()} for each in (done, *others)]

    result = provision(lake, SECOND, adoption="Adopt", unknownWrites=asked).ok()

    assert result["loaded"] == [{**done, "done": True}]
    assert sorted(lake.ledger_directory.iterdir()) == before


def test_a_run_that_adopts_finds_the_ledger_of_a_write_under_its_former_name(lake: Lake) -> None:
    """Without it, the second cluster loaded all files of a write again that the first one had renamed."""
    lake.provision(COLUMNS, keys=["id"], options=OPTIONS).ok()
    lake.land("orders/1.csv", "id,v\n1,first\n")
    lake.write().ok()
    names = {"same": "h1", "same-content": "h1", "other": "h2"}
    asked = [{"name": each, "hash": of, "ledger": lake.ledger_of(each).as_uri()} for each, of in names.items()]

    result = provision(lake, SECOND, adoption="Adopt", unknownWrites=asked).ok()

    assert result["loaded"] == [{"name": "same", "hash": "h1", "ledger": "import"}], "a ledger has one write"


def test_a_table_that_differs_is_not_adopted(lake: Lake) -> None:
    lake.provision(COLUMNS, keys=["id"], options=OPTIONS).ok()

    other = provision(lake, SECOND, adoption="Adopt", options=OPTIONS | {"bucket": "2"})

    assert "bucket" in other.refused("TableDiffers")


def test_adopt_takes_nothing_from_an_owner_that_this_cluster_still_has(lake: Lake) -> None:
    """A run at an alias of the server reads the mark of a PaimonTable whose proof is at another place."""
    lake.provision(COLUMNS, keys=["id"], options=OPTIONS).ok()
    other = "cluster-uid/yard/orders"

    message = provision(lake, other, adoption="Adopt", ownersHere=[digest_of(OWNER)]).refused("Conflict")

    assert "a PaimonTable of another namespace, which this cluster still has" in message
    assert lake.schemas() == 1, "nothing was altered"
    assert provision(lake, other, adoption="Adopt", ownersHere=[digest_of(other)]).ok()["created"] is False
    assert "a PaimonTable of another namespace" in lake.compact().blocked("Conflict")
