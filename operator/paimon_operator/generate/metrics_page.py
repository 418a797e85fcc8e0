"""The page of all metrics, generated from the registry: `python -m paimon_operator.generate.metrics_page FILE`."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Final

from paimon_operator.runtime.described_metrics import PREFIX, Description
from paimon_operator.runtime.metrics import Metrics
from paimon_operator.runtime.object_metrics import DESCRIBED

_LINE_LENGTH: Final = 120
_HEAD: Final = f"""# Metrics

The operator serves these metrics at `/metrics` of its port `metrics` (9090), in Prometheus' text format.
All names begin with `{PREFIX}_`. `make generate` writes this page from the registry; do not edit it.

* Counters of closed lists are present at 0 from the start, so `increase` sees the first event.
* Only the leader has objects. Of several replicas, one has `{PREFIX}_leader 1` and the series of objects.
* `type` is the type of a run, such as Compact. `reason` is a word of [reasons.md](reasons.md).
* `namespace` is that of the objects. A scrape needs `honor_labels: true`, or Prometheus calls it `exported_namespace`.
  The chart's ServiceMonitor sets it.
  The counters of a namespace end once two lists of objects (`resyncInterval`) have found none in it.
* Only the series of `{PREFIX}_table_...` name a table. `metrics.perTable` of the chart limits their number, or
  turns them off. `{PREFIX}_tables_without_series` counts the tables that are left out.
* [runbooks.md](runbooks.md) has the alerts, and [monitoring.md](monitoring.md) the queries for usual questions.
* The process itself has the usual `process_...` metrics of Prometheus' clients.
"""
_UNITS: Final = {"seconds": "seconds", "leader": "0 or 1", "info": "always 1"}


def page() -> str:
    """The page as Markdown, one section per metric, in alphabetical order."""
    return "\n".join([_HEAD, *(_section(described) for described in descriptions())])


def descriptions() -> list[Description]:
    """All metrics of the operator, by name."""
    return sorted((*Metrics(version="0").described, *DESCRIBED), key=lambda each: each.name)


def sample_names() -> frozenset[str]:
    """Names that a query may use: those of the samples of all metrics."""
    return frozenset(name for described in descriptions() for name in described.samples)


def _section(described: Description) -> str:
    name = described.name if described.type == "histogram" else described.samples[0]
    labels = ", ".join(f"`{label}`" for label in described.labels) or "none"
    facts = f"* Type: {described.type}. Unit: {_unit(name)}.\n* Labels: {labels}."
    return f"## {name}\n\n{_wrapped(described.text)}\n\n{facts}\n"


def _unit(name: str) -> str:
    return _UNITS.get(name.removesuffix("_total").rpartition("_")[2], "number")


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _LINE_LENGTH, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
