"""Descriptions of metrics, and a registry whose metrics have one. docs/metrics.md is generated from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info

PREFIX: Final = "paimon_operator"
_SUFFIXES: Final = {
    "counter": ("_total",),
    "gauge": ("",),
    "info": ("_info",),
    "histogram": ("_bucket", "_sum", "_count"),
}


@dataclass(frozen=True)
class Description:
    """One metric."""

    type: Literal["counter", "gauge", "info", "histogram"]
    name: str
    """Without the suffixes of its samples."""
    text: str
    labels: tuple[str, ...] = ()

    @property
    def samples(self) -> tuple[str, ...]:
        """Names of its samples, which queries use."""
        return tuple(self.name + suffix for suffix in _SUFFIXES[self.type])


class DescribedMetrics:
    """A registry and the descriptions of the metrics that were made in it. Names get the operator's prefix."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.described: list[Description] = []

    def counter(self, name: str, text: str, *labels: str) -> Counter:
        """A new counter. Its samples end with `_total`."""
        return Counter(self._describe("counter", name, text, labels), text, labels, registry=self.registry)

    def gauge(self, name: str, text: str, *labels: str) -> Gauge:
        """A new gauge."""
        return Gauge(self._describe("gauge", name, text, labels), text, labels, registry=self.registry)

    def histogram(self, name: str, text: str, *labels: str, buckets: Sequence[float]) -> Histogram:
        """A new histogram of seconds."""
        full = self._describe("histogram", name, text, labels)
        return Histogram(full, text, labels, registry=self.registry, buckets=buckets)

    def info(self, name: str, text: str, **values: str) -> None:
        """A new metric whose labels never change."""
        Info(self._describe("info", name, text, tuple(values)), text, registry=self.registry).info(values)

    def _describe(
        self, type_: Literal["counter", "gauge", "info", "histogram"], name: str, text: str, labels: tuple[str, ...]
    ) -> str:
        found = Description(type_, f"{PREFIX}_{name}", text, labels)
        self.described.append(found)
        return found.name
