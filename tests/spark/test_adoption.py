"""Which tables that another program has made are taken over by AdoptIfIdentical, and what Adopt does with the rest."""

from __future__ import annotations

import pytest

from tests.spark.lake import Lake

COLUMNS = {"id": "BIGINT NOT NULL", "v": "STRING"}
MANIFEST = {"keys": ["id"], "options": {"bucket": "1"}}


def make(lake: Lake, **options: str) -> None:
    """Another program creates the table."""
    listed = ", ".join(f"'{key}'='{value}'" for key, value in {"primary-key": "id", "bucket": "1", **options}.items())
    lake.outside(
        "CREATE DATABASE IF NOT EXISTS outside.shop",
        f"CREATE TABLE outside.shop.orders (id BIGINT NOT NULL, v STRING) TBLPROPERTIES ({listed})",
    )


UNSEEN = {
    "write-only": "true",
    "snapshot.num-retained.max": "11",
    "changelog-producer": "input",
    "partition.default-name": "nothing",
}


def test_a_table_with_options_that_the_manifest_lacks_is_not_identical(lake: Lake) -> None:
    make(lake, **UNSEEN)

    message = lake.provision(COLUMNS, **MANIFEST).refused("TableDiffers")

    for name, value in UNSEEN.items():
        assert f"option {name}: the table differs from the manifest, which has " in message
        assert value not in message.replace(name, "")


def test_adopt_takes_such_a_table_and_keeps_the_options_that_the_manifest_lacks(lake: Lake) -> None:
    make(lake, **{"write-only": "true", "snapshot.num-retained.max": "11"})

    lake.provision(COLUMNS, adoption="Adopt", **MANIFEST).ok()

    assert lake.provision(COLUMNS, adoption="Adopt", **MANIFEST).ok().get("differences") is None
    assert "write-only" in (lake.table_directory / "schema" / "schema-1").read_text()


@pytest.mark.parametrize(("wanted", "adopted"), [("true", True), (None, False)], ids=["wanted", "not wanted"])
def test_an_option_under_its_older_name_counts(lake: Lake, wanted: str | None, adopted: bool) -> None:
    make(lake, **{"merge-engine": "partial-update", "partial-update.ignore-delete": "true"})
    options = {"bucket": "1", "merge-engine": "partial-update"} | ({"ignore-delete": wanted} if wanted else {})

    ended = lake.provision(COLUMNS, keys=["id"], options=options)

    if adopted:
        ended.ok()
    else:
        assert "option ignore-delete: the table differs from the manifest" in ended.refused("TableDiffers")


def test_an_option_under_its_older_name_goes_when_it_leaves_the_manifest(lake: Lake) -> None:
    """Else nobody compacts the table: the writers do not, and the manifest says that they do."""
    make(lake, **{"write.compaction-skip": "true"})
    lake.provision(COLUMNS, adoption="Adopt", keys=["id"], options={"bucket": "1", "write-only": "true"}).ok()

    changed = lake.provision(COLUMNS, adoption="Adopt", **MANIFEST).ok()["differences"]

    assert changed[-1] == "option write.compaction-skip: true -> unset"
    assert "write.compaction-skip" not in (lake.table_directory / "schema" / "schema-2").read_text()
