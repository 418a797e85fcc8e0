"""Java's names: by the convention of capitals, and without a question to the JVM."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from py4j.java_gateway import JavaClass

from spark_apps.catalog.java_names import JavaPackage


class Silent:
    """A client of a JVM that answers nothing."""

    gateway_property = SimpleNamespace(pool=None)
    converters = None

    def send_command(self, command: str) -> str:
        raise AssertionError(f"the JVM was asked: {command}")


class TestNames:
    @pytest.mark.parametrize(
        ("walk", "name"),
        [
            (lambda names: names.java.util.HashMap, "java.util.HashMap"),
            (lambda names: names.org.apache.paimon.fs.FileIO, "org.apache.paimon.fs.FileIO"),
            (lambda names: getattr(names.org.apache, "Schema$Move"), "org.apache.Schema$Move"),
        ],
    )
    def test_a_capital_begins_a_class(self, walk: Any, name: str) -> None:
        found = walk(JavaPackage(Silent()))
        assert (type(found), found._fqn) == (JavaClass, name)

    def test_what_python_asks_of_any_object_is_no_package(self) -> None:
        assert not hasattr(JavaPackage(Silent()).org, "__iter__")
