"""Options whose keys have a free part, set on a real table: Paimon accepts them, writes with them, and reads again."""

from __future__ import annotations

from paimon_operator.core.spec.desired_table import desired_table
from paimon_operator.core.validation.table import broken_rules
from tests.spark.lake import Lake
from tests.support import builders

COLUMNS = {"id": "BIGINT", "path": "STRING"}
OPTIONS = {
    "file-index.bloom-filter.columns": "id, path",
    "file-index.bloom-filter.id.fpp": "0.01",
    "file-index.bloom-filter.id.items": "1000",
    "file-index.bitmap.columns": "path",
    "fields.path.stats-mode": "truncate(8)",
    "parquet.block.size": "1048576",
    "parquet.page.size": "65536",
    "parquet.enable.dictionary": "false",
    "parquet.bloom.filter.enabled#path": "true",
    "orc.stripe.size": "1048576",
    "orc.bloom.filter.columns": "path",
    "orc.bloom.filter.fpp": "0.05",
    "read.batch-size": "1",
    "file.compression.zstd-level": "22",
    "page-size": "32 kb",
}


def options_of(lake: Lake, **more: str) -> dict[str, str]:
    """The options that a manifest with all of them makes."""
    columns = [{"name": name, "type": type_} for name, type_ in COLUMNS.items()]
    table = builders.table(schema={"columns": columns}, options=OPTIONS | more)
    context = builders.context(table, builders.catalog(engine=lake.engine.id))
    assert broken_rules(context) == ()
    return desired_table(context.spec, context.effective).options


def test_a_table_with_options_of_free_keys_is_made_written_and_read_in_both_formats(lake: Lake) -> None:
    lake.provision(COLUMNS, options=options_of(lake)).ok()
    lake.land("orders/1.csv", "id,path\n1,a\n2,b\n")
    lake.write(mode="Append").ok()
    assert list(lake.table_directory.rglob("*.index")), "the index of the column exists"

    lake.provision(COLUMNS, options=options_of(lake, **{"file.format": "orc"})).ok()
    lake.land("orders/2.csv", "id,path\n3,c\n")
    lake.write(mode="Append").ok()

    assert len(list(lake.table_directory.rglob("*.orc"))) == 1
    assert [row["path"] for row in lake.rows()] == ["a", "b", "c"]
