"""Finds out which words Paimon takes for file formats and compressions, by writing a table with each and reading it.

Paimon stores any text and fails at the first write; which words are good depends on the format, on the version and on
the libraries around it, so asking is the only answer that fits. Candidates are the names in the jar's own lists.
"""

from __future__ import annotations

import tempfile
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

SHADED = "org.apache.paimon.shade.org.apache"
NO_COMPRESSION = "none"
VALUE = 7
STATS_MODES = ("none", "counts", "full", "truncate(16)")


class FormatProbe:
    """Makes its tables in a warehouse of its own, which `close` removes."""

    def __init__(self, jvm: Any) -> None:
        self._jvm = jvm
        self._home = tempfile.TemporaryDirectory(prefix="format-probe-")
        options = jvm.java.util.HashMap()
        options.put("warehouse", f"file://{self._home.name}")
        context = jvm.org.apache.paimon.catalog.CatalogContext.create(jvm.org.apache.paimon.options.Options(options))
        self._catalog = jvm.org.apache.paimon.catalog.CatalogFactory.createCatalog(context)
        self._catalog.createDatabase("probe", True)
        self._tables = 0

    def close(self) -> None:
        """Removes what was written."""
        self._catalog.close()
        self._home.cleanup()

    def file_formats(self) -> dict[str, list[str]]:
        """Format -> the compressions with which a table of it was written and read."""
        candidates = self._file_compressions()
        tried = {name: [each for each in candidates if self._works(name, each)] for name in self._formats()}
        return {name: compressions for name, compressions in tried.items() if compressions}

    def block_compressions(self) -> list[str]:
        """Compressions of what is spilled to the local disk."""
        candidates = self._enum("org.apache.paimon.compression.BlockCompressionType")
        return sorted(each for each in candidates if self._spills(each))

    def stats_modes(self) -> list[str]:
        """Ways to keep statistics of a column; the number in truncate(16) is free."""
        return sorted(mode for mode in STATS_MODES if self._collects(mode))

    def _works(self, file_format: str, compression: str) -> bool:
        try:
            return self._written_and_read({"file.format": file_format, "file.compression": compression})
        except (Py4JJavaError, PySparkException):
            return False

    def _written_and_read(self, options: dict[str, str]) -> bool:
        table, ways = self._table(options), self._jvm.org.apache.paimon.table
        builder = ways.sink.BatchWriteBuilderImpl(table)  # py4j finds no default method of an interface
        writer = builder.newWrite()
        row = self._jvm.org.apache.paimon.data.GenericRow(1)
        row.setField(0, VALUE)
        writer.write(row)
        builder.newCommit().commit(writer.prepareCommit())
        writer.close()
        reading = ways.source.ReadBuilderImpl(table)
        split = reading.newScan().plan().splits().get(0)
        rows = self._jvm.org.apache.paimon.reader.RecordReaderIterator(reading.newRead().createReader(split))
        found = rows.next().getInt(0)
        rows.close()
        return bool(found == VALUE)

    def _table(self, options: dict[str, str]) -> Any:
        self._tables += 1
        builder = self._jvm.org.apache.paimon.schema.Schema.newBuilder()
        builder.column("k", self._jvm.org.apache.paimon.types.DataTypes.INT())
        for key, value in options.items():
            builder.option(key, value)
        identifier = self._jvm.org.apache.paimon.catalog.Identifier.create("probe", f"t{self._tables}")
        self._catalog.createTable(identifier, builder.build(), False)
        return self._catalog.getTable(identifier)

    def _formats(self) -> list[str]:
        factory = self._class("org.apache.paimon.format.FileFormatFactory")
        found = self._jvm.java.util.ServiceLoader.load(factory).iterator()
        names = []
        while found.hasNext():
            names.append(str(found.next().identifier()))
        return sorted(names)

    def _file_compressions(self) -> list[str]:
        """Returns the names of all codecs of the three formats. Only a trial shows which codec fits which format."""
        registered = self._class(f"{SHADED}.avro.file.CodecFactory").getDeclaredField("REGISTERED")
        registered.setAccessible(True)
        names = {str(name) for name in registered.get(None).keySet()} | {NO_COMPRESSION}
        names |= self._enum(f"{SHADED}.orc.CompressionKind")
        names |= self._enum(f"{SHADED}.parquet.hadoop.metadata.CompressionCodecName")
        return sorted(names)

    def _spills(self, compression: str) -> bool:
        options = self._jvm.org.apache.paimon.compression.CompressOptions(compression, 1)
        try:
            self._jvm.org.apache.paimon.compression.BlockCompressionFactory.create(options)
        except (Py4JJavaError, PySparkException):
            return False
        return True

    def _collects(self, mode: str) -> bool:
        collector = self._jvm.org.apache.paimon.statistics.SimpleColStatsCollector
        try:
            getattr(collector, "from")(mode)
        except (Py4JJavaError, PySparkException):
            return False
        return True

    def _enum(self, class_name: str) -> set[str]:
        """The constants' names in lower case, as options are written."""
        return {str(constant.name()).lower() for constant in self._class(class_name).getEnumConstants()}

    def _class(self, name: str) -> Any:
        return self._jvm.java.lang.Class.forName(name)
