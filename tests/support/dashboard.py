"""The panels of the chart's dashboard, with the queries that Grafana would send."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

_FILE: Final = Path(__file__).parents[2] / "charts" / "paimon-operator" / "files" / "dashboard.json"
_SCRAPES: Final = 4
"""Scrapes in `$__rate_interval`, as Grafana's data source takes it."""


def panels(*, scrape_ms: int) -> dict[str, str]:
    """The query of each panel by its title, with all namespaces selected."""
    document = json.loads(_FILE.read_text(encoding="utf-8"))
    values = {f"${each['name']}": each["allValue"] for each in document["templating"]["list"] if "allValue" in each}
    values["$__rate_interval"] = f"{_SCRAPES * scrape_ms}ms"
    return {each["title"]: _query(each, values) for each in document["panels"] if each["type"] != "row"}


def _query(panel: dict[str, Any], values: dict[str, str]) -> str:
    (target,) = panel["targets"]
    query: str = target["expr"]
    for name, value in values.items():
        query = query.replace(name, value)
    if "$" in query:
        raise ValueError(f"the panel {panel['title']!r} has an unknown variable: {query}")
    return query
