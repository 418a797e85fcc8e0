"""docs/metrics.md is fresh, and alerts, runbooks and queries of the docs use only metrics that it has."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from paimon_operator.core.operations import registry
from paimon_operator.core.run.completion import ENDED
from paimon_operator.generate.metrics_page import descriptions, page, sample_names
from paimon_operator.runtime.metrics import RECONCILED, RESULTS, Metrics

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
ALERTS: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((ROOT / "charts" / "paimon-operator" / "files" / "alerts.yaml").read_text())["groups"]
    for rule in group["rules"]
]
RUNBOOK_PARTS = ("**Symptom.**", "**Meaning.**", "**Look at**", "**Do", "**Clears**")
DASHBOARD = json.loads((ROOT / "charts" / "paimon-operator" / "files" / "dashboard.json").read_text())
PANELS = {each["title"]: each for each in DASHBOARD["panels"] if each["type"] != "row"}
QUERIES = re.findall(r"```promql\n(.*?)```", (DOCS / "monitoring.md").read_text(), flags=re.DOTALL)


def metrics_in(query: str) -> set[str]:
    return set(re.findall(r"\bpaimon_operator_\w+", query))


def is_of_prometheus(query: str) -> bool:
    """Whether it reads the state of the alerts, which is a series of Prometheus itself."""
    return query.startswith("ALERTS")


def series() -> dict[str, list[dict[str, str]]]:
    """Labels of all samples of an operator that has done nothing, by name."""
    found: dict[str, list[dict[str, str]]] = {}
    for family in text_string_to_metric_families(Metrics(version="1").text().decode()):
        for sample in family.samples:
            found.setdefault(sample.name, []).append(sample.labels)
    return found


def test_the_committed_page_equals_the_generated_one() -> None:
    assert (DOCS / "metrics.md").read_text(encoding="utf-8") == page(), "run `make generate`"


def test_every_metric_that_a_process_shows_is_described() -> None:
    known = sample_names()
    shown = {name for name in series() if not name.startswith("process_") and not name.endswith("_created")}
    assert shown <= known


@pytest.mark.parametrize("described", descriptions(), ids=lambda each: each.name)
def test_no_metric_of_the_process_names_a_table(described: Any) -> None:
    assert ("table" in described.labels) == described.name.startswith("paimon_operator_table_")
    assert "name" not in described.labels


def test_counters_of_closed_lists_are_present_at_zero() -> None:
    found, types = series(), registry.OPERATIONS.types
    finished = {(each["type"], each["phase"]) for each in found["paimon_operator_runs_finished_total"]}
    assert finished == {(type_, str(phase)) for type_ in types for phase in ENDED}
    assert {each["kind"] for each in found["paimon_operator_reconcile_bugs_total"]} == set(map(str, RECONCILED))
    reconciles = {(each["kind"], each["result"]) for each in found["paimon_operator_reconcile_seconds_count"]}
    assert len(reconciles) == len(RECONCILED) * len(RESULTS)
    lengths = {(each["type"], each["reason"]) for each in found["paimon_operator_run_duration_seconds_count"]}
    assert lengths == {(type_, "RunSucceeded") for type_ in types}
    attempts = {(each["type"], each["reason"]) for each in found["paimon_operator_run_attempts_total"]}
    assert attempts >= {(type_, reason) for type_ in types for reason in ("RunSucceeded", "OutOfMemory", "PodLost")}


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert["alert"])
def test_each_alert_has_its_runbook_and_uses_documented_metrics(alert: dict[str, Any]) -> None:
    name = alert["alert"]
    assert alert["annotations"]["runbook_url"] == f"docs/runbooks.md#{name.lower()}"
    sections = (DOCS / "runbooks.md").read_text().split("\n## ")[1:]
    (section,) = [each for each in sections if each.splitlines()[0] == name]
    assert [part for part in RUNBOOK_PARTS if part not in section] == []
    assert "`" in section
    assert metrics_in(alert["expr"])
    assert metrics_in(alert["expr"]) <= sample_names()
    assert alert["labels"]["severity"] in ("critical", "warning")
    assert {"summary", "description"} <= alert["annotations"].keys()


def test_each_section_of_the_runbooks_has_its_alert() -> None:
    sections = (DOCS / "runbooks.md").read_text().split("\n## ")[1:]
    assert [each.splitlines()[0] for each in sections] == [alert["alert"] for alert in ALERTS]


@pytest.mark.parametrize("query", QUERIES)
def test_each_query_of_the_docs_uses_documented_metrics(query: str) -> None:
    assert metrics_in(query) or is_of_prometheus(query)
    assert metrics_in(query) <= sample_names()


@pytest.mark.parametrize("title", PANELS)
def test_each_panel_of_the_dashboard_uses_documented_metrics(title: str) -> None:
    (target,) = PANELS[title]["targets"]
    assert metrics_in(target["expr"])
    assert metrics_in(target["expr"]) <= sample_names()
    assert PANELS[title]["datasource"] == {"type": "prometheus", "uid": "${datasource}"}


def test_the_panels_of_the_dashboard_do_not_overlap() -> None:
    taken = [
        (each["gridPos"]["x"] + dx, each["gridPos"]["y"] + dy)
        for each in DASHBOARD["panels"]
        for dx in range(each["gridPos"]["w"])
        for dy in range(each["gridPos"]["h"])
    ]
    assert len(set(taken)) == len(taken)
    assert len({each["id"] for each in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def test_the_runbooks_name_only_documented_metrics() -> None:
    assert metrics_in((DOCS / "runbooks.md").read_text()) <= sample_names()


def test_a_label_of_a_query_is_one_of_its_metric() -> None:
    labels = {name: set(each.labels) | {"le"} for each in descriptions() for name in each.samples}
    shown = (panel["targets"][0]["expr"] for panel in PANELS.values())
    for query in (*QUERIES, *(alert["expr"] for alert in ALERTS), *shown):
        for name, selector in re.findall(r"(paimon_operator_\w+)\{([^}]*)\}", query):
            assert set(re.findall(r"(\w+)\s*[=!]", selector)) <= labels[name], query
