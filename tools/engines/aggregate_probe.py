"""Finds out which column types an aggregate function takes, by merging two values with Paimon's own aggregator.

Paimon checks this in different places per version (at CREATE, at the first write, or when rows merge), so asking is
the only answer that fits them all. Everything goes through reflection, because py4j would turn a Byte or a Float that
passes through Python into an Integer or a Double.
"""

from __future__ import annotations

from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

AGGREGATE = "org.apache.paimon.mergetree.compact.aggregate"
ROW_ARRAY = "ARRAY<ROW>"
KEYTIME_MAP = "MAP<ROW>"


class TypeProbe:
    """Holds two sample values per type root; `types_of` tries them all."""

    def __init__(self, jvm: Any) -> None:
        self._jvm = jvm
        self._types = jvm.org.apache.paimon.types.DataTypes
        self._samples = self._make_samples()

    def types_of(self, function: str) -> list[str]:
        """Type roots that `function` merges without an error, sorted.

        A sketch merges no sample, because its bytes must be a sketch already: then the types it is created for count.
        """
        created = {name: self._aggregator(function, each) for name, (each, _) in self._samples.items()}
        possible = {name: aggregator for name, aggregator in created.items() if aggregator is not None}
        merged = [name for name, aggregator in possible.items() if self._merges(aggregator, self._samples[name][1])]
        return sorted(merged or possible)

    def _merges(self, aggregator: Any, pair: Any) -> bool:
        any_object = self._jvm.java.lang.Class.forName("java.lang.Object")
        aggregator_class = self._jvm.java.lang.Class.forName(f"{AGGREGATE}.FieldAggregator")
        method = aggregator_class.getMethod("agg", self._array("java.lang.Class", [any_object, any_object]))
        try:
            method.invoke(aggregator, pair)
        except (Py4JJavaError, PySparkException):
            return False
        return True

    def _aggregator(self, function: str, data_type: Any) -> Any:
        try:
            return self._create(function, data_type)
        except (Py4JJavaError, PySparkException):
            return None

    def _create(self, function: str, data_type: Any) -> Any:
        settings = self._jvm.java.util.HashMap()
        settings.put("fields.f.nested-key", "k")
        options = self._jvm.org.apache.paimon.CoreOptions(settings)
        factory = f"{AGGREGATE}.factory.FieldAggregatorFactory"
        try:
            self._jvm.java.lang.Class.forName(factory)
        except Py4JJavaError:  # before 1.0 one method knows all functions
            old = self._jvm.org.apache.paimon.mergetree.compact.aggregate.FieldAggregator
            return old.createFieldAggregator(data_type, function, False, False, options, "f")
        # an interface with two methods of this name, one of them static: beyond py4j without reflection
        names = [
            "org.apache.paimon.types.DataType",
            "java.lang.String",
            "java.lang.String",
            "org.apache.paimon.CoreOptions",
        ]
        forms = self._array("java.lang.Class", [self._jvm.java.lang.Class.forName(name) for name in names])
        create = self._jvm.java.lang.Class.forName(factory).getMethod("create", forms)
        return create.invoke(None, self._array("java.lang.Object", [data_type, "f", function, options]))

    def _make_samples(self) -> dict[str, tuple[Any, Any]]:
        samples = self._numbers() | self._others() | self._nested()
        return {name: (each, self._pair(clazz, value)) for name, (each, clazz, value) in samples.items()}

    def _numbers(self) -> dict[str, tuple[Any, str, Any]]:
        t = self._types
        decimal = self._jvm.org.apache.paimon.data.Decimal.fromUnscaledLong(150, 10, 2)
        return {
            "TINYINT": (t.TINYINT(), "java.lang.Byte", 1),
            "SMALLINT": (t.SMALLINT(), "java.lang.Short", 1),
            "INT": (t.INT(), "java.lang.Integer", 1),
            "BIGINT": (t.BIGINT(), "java.lang.Long", 1),
            "FLOAT": (t.FLOAT(), "java.lang.Float", 1.5),
            "DOUBLE": (t.DOUBLE(), "java.lang.Double", 1.5),
            "DECIMAL": (t.DECIMAL(10, 2), "java.lang.Object", decimal),
        }

    def _others(self) -> dict[str, tuple[Any, str, Any]]:
        t, data = self._types, self._jvm.org.apache.paimon.data
        text, moment = data.BinaryString.fromString("a"), data.Timestamp.fromEpochMillis(1000)
        return {
            "BOOLEAN": (t.BOOLEAN(), "java.lang.Boolean", True),
            "CHAR": (t.CHAR(1), "java.lang.Object", text),
            "VARCHAR": (t.VARCHAR(5), "java.lang.Object", text),
            "STRING": (t.STRING(), "java.lang.Object", text),
            "DATE": (t.DATE(), "java.lang.Integer", 1),
            "TIME": (t.TIME(3), "java.lang.Integer", 1),
            "TIMESTAMP": (t.TIMESTAMP(6), "java.lang.Object", moment),
            "TIMESTAMP_LTZ": (t.TIMESTAMP_WITH_LOCAL_TIME_ZONE(6), "java.lang.Object", moment),
            "BINARY": (t.BINARY(1), "[B", b"\x01"),
            "VARBINARY": (t.VARBINARY(5), "[B", b"\x01"),
            "BYTES": (t.BYTES(), "[B", b"\x01"),
        }

    def _nested(self) -> dict[str, tuple[Any, str, Any]]:
        t, data = self._types, self._jvm.org.apache.paimon.data
        row_type = t.ROW(
            self._array("org.apache.paimon.types.DataField", [t.FIELD(0, "k", t.INT()), t.FIELD(1, "v", t.INT())])
        )
        row = data.GenericRow.of(self._array("java.lang.Object", [1, 2]))
        numbers = data.GenericArray(self._array("java.lang.Object", [1, 2]))
        rows = data.GenericArray(self._array("java.lang.Object", [row]))
        return {
            "ARRAY": (t.ARRAY(t.INT()), "java.lang.Object", numbers),
            "MAP": (t.MAP(t.INT(), t.INT()), "java.lang.Object", data.GenericMap(self._jvm.java.util.HashMap({1: 2}))),
            "ROW": (row_type, "java.lang.Object", row),
            ROW_ARRAY: (t.ARRAY(row_type), "java.lang.Object", rows),
            KEYTIME_MAP: (
                t.MAP(t.INT(), row_type),
                "java.lang.Object",
                data.GenericMap(self._jvm.java.util.HashMap({1: row})),
            ),
        }

    def _pair(self, class_name: str, value: Any) -> Any:
        """An Object[] with twice the value, boxed as `class_name`: only an array of that type makes py4j box it so."""
        boxed = self._array(class_name, [value, value])
        pair = self._array("java.lang.Object", [None, None])
        self._jvm.java.lang.System.arraycopy(boxed, 0, pair, 0, 2)
        return pair

    def _array(self, class_name: str, values: list[Any]) -> Any:
        array = self._jvm.java.lang.reflect.Array.newInstance(
            self._jvm.java.lang.Class.forName(class_name), len(values)
        )
        for index, value in enumerate(values):
            array[index] = value
        return array
