"""Java's packages and classes by their names, as `jvm.java.util.HashMap()`, without a question to the JVM.

py4j's own view of a JVM asks at each step whether `org`, `org.apache` and so on are classes, and the JVM then searches
all jars of its class path. That took a tenth of the CPU time of a driver that runs many small jobs.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any


class JavaPackage:
    """A package. By Java's convention, a name that begins with a capital is a class."""

    def __init__(self, client: Any, name: str = "") -> None:
        """`client`: the GatewayClient (py4j) of the JVM."""
        self._client, self._name = client, name

    def __getattr__(self, name: str) -> Any:
        from py4j.java_gateway import JavaClass  # noqa: PLC0415  (with pyspark, which takes long to import)

        if name.startswith("_"):
            raise AttributeError(name)
        full = f"{self._name}.{name}" if self._name else name
        return JavaClass(full, self._client) if name[0].isupper() else JavaPackage(self._client, full)


@lru_cache(maxsize=1)
def names_of(jvm: Any) -> JavaPackage:
    """The packages of the JVM (py4j's JVMView). The same object for all jobs of a process."""
    return JavaPackage(jvm._gateway_client)
