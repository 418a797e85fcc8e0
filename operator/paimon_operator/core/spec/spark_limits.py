"""The limits of a catalog for the Spark Pods of its tables, applied to what is used.

What a manifest requests beyond them is an error (`core/validation/spark_limits.py`). What is used is within them in any
case: the operator's defaults, and the values of a table that is being deleted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from paimon_operator.api import units
from paimon_operator.api.catalog.limits import SparkLimits
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.spark import Driver, Executor, SparkMode

_SIZES: Final = ("instances", "cores", "memory", "scratch")
"""Fields of a driver or an executor that have a limit."""


def spark_limits(catalog: PaimonCatalog | None) -> SparkLimits:
    """The catalog's limits for Spark Pods; none of them set without a catalog."""
    limits = catalog.spec.limits if catalog is not None else None
    return (limits.spark if limits is not None else None) or SparkLimits()


def exceeded(size: Driver | Executor | None, limit: Driver | Executor | None) -> Iterator[tuple[str, Any, Any]]:
    """Each field of `size` that is larger than in `limit`: its name, its value, and the largest allowed value."""
    for name in _SIZES:
        value, most = getattr(size, name, None), getattr(limit, name, None)
        if value is not None and most is not None and _number(value) > _number(most):
            yield name, value, most


def within(size: Mapping[str, Any], limit: Driver | Executor | None) -> dict[str, Any]:
    """`size` with no value larger than in `limit`."""
    return {name: _smaller(value, getattr(limit, name, None)) for name, value in size.items()}


def mode_within(mode: SparkMode, limits: SparkLimits) -> SparkMode:
    """`mode`, or the mode that the catalog allows instead. Auto chooses among the allowed modes."""
    allowed = [SparkMode(each) for each in limits.modes]
    if not allowed or mode in allowed or (mode is SparkMode.AUTO and len(allowed) > 1):
        return mode
    return allowed[0]


def most_memory_mib(limit: Driver | None) -> int | None:
    """The largest memory of a driver in MiB; None without a limit."""
    return None if limit is None or limit.memory is None else units.mebibytes(limit.memory)


def _smaller(value: Any, most: Any) -> Any:
    if value is None or most is None:
        return value
    return min(value, most, key=_number)


def _number(value: int | str) -> int:
    return value if isinstance(value, int) else units.mebibytes(value)
