"""Formats, compressions and statistics that the engine cannot write are refused before any Pod."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.core.validation.table import broken_rules
from tests.support import builders

ENGINES = tuple(builders.engines())


def refused(engine: str = "paimon-1.4", **spec: Any) -> list[str]:
    context = builders.context(builders.table(**spec), builders.catalog(engine=engine))
    return [str(error) for error in broken_rules(context)]


@pytest.mark.parametrize(
    ("sentence", "options", "field", "words"),
    [
        ("no such format", {"file.format": "parket"}, "file.format", "Use one of: avro, csv, json, orc, parquet."),
        ("no such compression", {"file.compression": "zstdd"}, "file.compression", "'zstdd' cannot be written in the format parquet"),
        ("a compression of another format", {"file.format": "orc", "file.compression": "gzip"}, "file.compression", "in the format orc. Use one of: lz4, "),
        ("a format without the default compression", {"file.format": "csv"}, "file.format", "with file.compression 'zstd' cannot be written in the format csv"),
        ("a compression of changelogs", {"changelog-file.compression": "zap"}, "changelog-file.compression", "'zap'"),
        ("changelogs in a format without the tables' compression", {"file.compression": "gzip", "changelog-file.format": "orc"}, "changelog-file.format", "with file.compression 'gzip'"),
        ("a manifest's format", {"manifest.format": "xml"}, "manifest.format", "'xml'"),
        ("a manifest's compression", {"manifest.compression": "gzip"}, "manifest.compression", "in the format avro"),
        ("a level's format", {"file.format.per.level": "0:avro,5:parket"}, "file.format.per.level", "level 5: 'parket'"),
        ("a level's compression", {"file.compression.per.level": "0:lz4,3:zap"}, "file.compression.per.level", "level 3: 'zap'"),
        ("a level's compression for the level's format", {"file.format.per.level": "0:avro", "file.compression.per.level": "0:lz4"}, "file.compression.per.level", "in the format avro"),
        ("a level's format without the table's compression", {"file.format.per.level": "0:csv"}, "file.format.per.level", "level 0: with file.compression 'zstd' cannot be written in the format csv"),
        ("the table's compression for a level's format", {"file.format.per.level": "0:avro", "file.compression": "gzip"}, "file.compression", "level 0: 'gzip' cannot be written in the format avro"),
        ("what is spilled", {"spill-compression": "gzip"}, "spill-compression", "Use one of: lz4, lzo, none, zstd."),
        ("what lookups spill", {"lookup.cache-spill-compression": "gzip"}, "lookup.cache-spill-compression", "lzo"),
        ("statistics", {"metadata.stats-mode": "some"}, "metadata.stats-mode", "truncate(16)"),
    ],
)  # fmt: skip
def test_a_format_that_the_engine_cannot_write_is_refused_with_its_option(
    sentence: str, options: dict[str, str], field: str, words: str
) -> None:
    (told,) = refused(options=options)
    assert told.startswith(f"spec.options[{field}]: "), sentence
    assert words in told, sentence


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"file.format": "orc"},
        {"file.format": "avro", "file.compression": "zstd"},
        {"file.format": "parquet", "file.compression": "snappy", "manifest.compression": "zstd"},
        {"file.format.per.level": "0:avro, 5:orc", "file.compression.per.level": "5:zlib"},
        {"spill-compression": "lz4", "metadata.stats-mode": "truncate(32)"},
        {"file.format": "Orc", "file.compression": "ZLIB", "spill-compression": "LZ4"},
        {"file.format": "PARQUET", "file.compression": "ZSTD", "file.compression.per.level": "0:LZ4"},
    ],
)
def test_a_format_that_the_engine_can_write_is_accepted(engine: str, options: dict[str, str]) -> None:
    assert refused(engine, options=options) == []


def test_the_compression_of_a_write_must_fit_the_tables_format() -> None:
    write = builders.write() | {"options": {"file.compression": "gzip"}}
    assert refused(writes=[write]) == []
    (told,) = refused(writes=[write], options={"file.format": "orc"})
    assert told.startswith("spec.writes[0].options[file.compression]: 'gzip' cannot be written in the format orc")


def test_the_compression_of_a_write_must_fit_the_format_of_each_level() -> None:
    write = builders.write() | {"options": {"file.compression": "gzip"}}
    (told,) = refused(writes=[write], options={"file.format.per.level": "5:orc"})
    assert told.startswith("spec.writes[0].options[file.compression]: level 5: 'gzip' cannot be written in")
    own = {"file.format.per.level": "5:orc", "file.compression.per.level": "5:fast"}
    (told,) = refused(writes=[write], options=own)
    assert told.startswith("spec.options[file.compression.per.level]: "), "it is reported once"


def test_a_wrong_format_of_the_table_is_reported_once_and_not_for_each_write() -> None:
    write = builders.write() | {"options": {"file.compression": "gzip"}}
    (told,) = refused(writes=[write], options={"file.format": "parket"})
    assert told.startswith("spec.options[file.format]")


@pytest.mark.parametrize("engine", ENGINES)
def test_paimons_defaults_are_accepted(engine: str) -> None:
    known = builders.engines()[engine]
    for format_key, compression_key in (
        ("file.format", "file.compression"),
        ("manifest.format", "manifest.compression"),
    ):
        by_default = known.file_formats[str(known.options[format_key].default)]
        assert known.options[compression_key].default in by_default
    assert known.options["spill-compression"].default in known.block_compressions
    assert known.options["metadata.stats-mode"].default in known.stats_modes
