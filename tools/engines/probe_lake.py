"""Tables in a warehouse of their own, which the probes create and alter through Paimon and use through Spark SQL."""

# ruff: noqa: S608 - the only names in SQL are those of the probes

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any, Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

EXTENSIONS: Final = "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions"
"""spark.sql.extensions of the session, which it needs from its start so that `compact` can CALL a procedure."""
REFUSED: Final = (Py4JError, PySparkException)
"""What Paimon, Spark, and py4j for a method that Paimon lacks, raise."""
INTERPRETED: Final = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""Every statement has other columns, and code for hundreds of them takes longer to compile than to interpret."""
CATALOG, DATABASE = "probe_lake", "d"


class ProbeLake:
    """The warehouse; `close` removes it."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        gateway: Any = session.sparkContext._gateway
        self._gateway = gateway
        self.jvm = gateway.jvm
        self._home = tempfile.TemporaryDirectory(prefix="probe-lake-")
        options = {"warehouse": f"file://{self._home.name}", "cache-enabled": "false"}
        session.conf.set(f"spark.sql.catalog.{CATALOG}", "org.apache.paimon.spark.SparkCatalog")
        catalog = {f"spark.sql.catalog.{CATALOG}.{key}": value for key, value in options.items()}
        for key, value in {**INTERPRETED, **catalog}.items():
            session.conf.set(key, value)
        paimon = self.jvm.org.apache.paimon
        context = paimon.catalog.CatalogContext.create(paimon.options.Options.fromMap(self._map(options)))
        self._catalog = paimon.catalog.CatalogFactory.createCatalog(context)
        self._catalog.createDatabase(DATABASE, True)
        self._tables = 0

    def close(self) -> None:
        """Removes all tables."""
        self._catalog.close()
        self._home.cleanup()

    def create(self, columns: Mapping[str, Any], *, keys: Sequence[str] = (), options: Mapping[str, str]) -> ProbeTable:
        """A new table, with types in Paimon's JSON form."""
        self._tables += 1
        builder = self.jvm.org.apache.paimon.schema.Schema.newBuilder()
        for name, form in columns.items():
            builder.column(name, self.data_type(form))
        builder.primaryKey(self._list(keys))
        for key, value in options.items():
            builder.option(key, value)
        name = f"t{self._tables}"
        self._catalog.createTable(self._identifier(name), builder.build(), False)
        return ProbeTable(self, name)

    def data_type(self, form: Any) -> Any:
        """The DataType (Java) of a type in Paimon's JSON form."""
        kind = self.jvm.java.lang.Class.forName("org.apache.paimon.types.DataType")
        return self.jvm.org.apache.paimon.utils.JsonSerdeUtil.fromJson(json.dumps(form), kind)

    def sql(self, statement: str) -> list[Any]:
        """The rows of a statement."""
        rows: list[Any] = self._session.sql(statement).collect()
        return rows

    def alter(self, table: str, changes: Sequence[Any]) -> None:
        """Applies SchemaChanges (Java) in one call. Raises Py4JJavaError when Paimon refuses them."""
        self._catalog.alterTable(self._identifier(table), self._list(changes), False)

    def load(self, table: str) -> Any:
        """The current table (Java FileStoreTable)."""
        return self._catalog.getTable(self._identifier(table))

    def strings(self, values: Sequence[str]) -> Any:
        """A String[]."""
        array = self._gateway.new_array(self.jvm.java.lang.String, len(values))
        for index, value in enumerate(values):
            array[index] = value
        return array

    def _identifier(self, table: str) -> Any:
        return self.jvm.org.apache.paimon.catalog.Identifier.create(DATABASE, table)

    def _list(self, values: Sequence[Any]) -> Any:
        made = self.jvm.java.util.ArrayList()
        for value in values:
            made.add(value)
        return made

    def _map(self, values: Mapping[str, str]) -> Any:
        made = self.jvm.java.util.HashMap()
        for key, value in values.items():
            made.put(key, value)
        return made


class ProbeTable:
    """One table of the lake."""

    def __init__(self, lake: ProbeLake, name: str) -> None:
        self._lake, self._name = lake, name
        self.sql_name = f"{CATALOG}.{DATABASE}.{name}"

    def alter(self, *changes: Any) -> None:
        """Applies SchemaChanges (Java) in one commit. Raises Py4JJavaError when Paimon refuses them."""
        self._lake.alter(self._name, changes)

    def insert(self, *rows: Sequence[str]) -> None:
        """Writes rows, each a list of SQL expressions for all columns in order. An append table has a file per row."""
        selects = " UNION ALL ".join(f"SELECT {', '.join(row)}" for row in rows)
        self._lake.sql(f"INSERT INTO {self.sql_name} {selects}")

    def select(self, expressions: str = "*", *, where: str = "true") -> list[Any]:
        """Rows, in the order of their first expression."""
        rows = self._lake.sql(f"SELECT {expressions} FROM {self.sql_name} WHERE {where}")
        return sorted((tuple(row) for row in rows), key=lambda row: row[0])

    def compact(self) -> None:
        """Rewrites every file with the current schema. Raises RuntimeError if one is left."""
        self._lake.sql(f"CALL {CATALOG}.sys.compact(table => '{DATABASE}.{self._name}')")
        schemas = {row[0] for row in self._lake.sql(f"SELECT schema_id FROM {CATALOG}.{DATABASE}.`{self._name}$files`")}
        if schemas != {self.schema.id()}:
            raise RuntimeError(f"files of {self._name} have the schemas {schemas} after a compaction")

    @property
    def schema(self) -> Any:
        """The current TableSchema (Java)."""
        return self._lake.load(self._name).schema()
