"""Spark Pods beyond the catalog's limits. A table's manifest meets its catalog only here: no CEL rule sees both."""

from __future__ import annotations

from collections.abc import Iterator

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.reasons import Reason
from paimon_operator.api.spark import Spark, SparkMode
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.spark_limits import exceeded, mode_within, spark_limits
from paimon_operator.errors import SpecError


def spark_limits_of(context: TableContext) -> Iterator[SpecError]:
    """What the table requests beyond the limits of its catalog."""
    yield from _beyond(context.spec.spark, context.catalog)


def own_spark_limits_of(catalog: PaimonCatalog) -> Iterator[SpecError]:
    """The catalog's own defaults beyond its own limits: every table that inherits them would be."""
    yield from _beyond(catalog.spec.spark, catalog)


def _beyond(spark: Spark | None, catalog: PaimonCatalog) -> Iterator[SpecError]:
    if spark is None:
        return
    limits, whose = spark_limits(catalog), f"PaimonCatalog {catalog.metadata.name}"
    if (
        spark.mode is not None
        and mode_within(spark.mode, limits) is not spark.mode
        and spark.mode is not SparkMode.AUTO
    ):
        yield SpecError(
            "spec.spark.mode",
            f"{spark.mode} is not allowed by limits.spark.modes of {whose}",
            f"Use {' or '.join(limits.modes)}, or have the limit changed.",
            reason=Reason.LIMIT_EXCEEDED,
        )
    pairs = {"driver": (spark.driver, limits.driver), "executor": (spark.executor, limits.executor)}
    for member, (size, limit) in pairs.items():
        for name, value, most in exceeded(size, limit):
            yield SpecError(
                f"spec.spark.{member}.{name}",
                f"{value} is more than limits.spark.{member}.{name} of {whose}, {most}",
                f"Set at most {most}, or have the limit raised.",
                reason=Reason.LIMIT_EXCEEDED,
            )
