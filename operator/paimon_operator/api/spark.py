"""Sizes and accounts of the Spark pods."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from paimon_operator.api.base import ApiModel, Memory, ResourceName, rule, validated


class Driver(ApiModel):
    """The pod that does the work."""

    model_config = validated(
        rule(
            "!has(self.memory) || (quantity(self.memory).compareTo(quantity('1Gi')) >= 0"
            " && quantity(self.memory).compareTo(quantity('512Gi')) <= 0)",
            "memory must be from 1Gi to 512Gi: Spark needs 512Mi beside its heap",
            path=".memory",
        )
    )

    cores: Annotated[int, Field(ge=1, le=64, json_schema_extra={"format": "int32"})] | None = None
    """CPUs requested, and how many tasks run side by side."""
    memory: Memory | None = None
    """Memory of the container, request and limit; the JVM's heap is what is left after 35 % of it, at least 512Mi."""


class Spark(ApiModel):
    """Sizes of a table's Spark pods. An edit applies to the next run and never starts one."""

    driver: Driver | None = None
    """Size of the driver pod."""


class CatalogSpark(Spark):
    """Defaults for the Spark pods of all tables, and what tables may not choose."""

    service_account_name: ResourceName | None = None
    """Service account of the Spark pods; its token is not mounted. Absent: the namespace's default account."""
