"""docs/monitoring.md routes each alert of the chart to the team that owns it, by the labels that promtool has shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.support.docs_manifests import blocks

ROOT: Final = Path(__file__).parents[2]
(CONFIGURATION,) = (
    yaml.safe_load(document["stringData"]["alertmanager.yaml"])
    for block in blocks()
    if block.page == "docs/monitoring.md"
    for document in block.documents
    if document.get("kind") == "Secret"
)
MATCHER: Final = re.compile(r'(\w+)(=~|=)"([^"]*)"')
OWNERS: Final = {
    "PaimonOperatorNoLeader": {"platform-pager"},
    "PaimonOperatorCanaryLate": {"platform"},
    "PaimonOperatorQueueOld": {"platform"},
    "PaimonOperatorThrottled": {"platform"},
    "PaimonOperatorBug": {"platform"},
    "PaimonStalled": {"shop"},
    "PaimonScheduleLate": {"shop"},
    "PaimonRunsFail": {"shop", "platform"},
    "PaimonRunsOutOfMemory": {"shop", "platform"},
    "PaimonCommitSafeLost": {"shop-pager"},
}
"""Receivers of each alert. Two: also where several namespaces together are the cause."""


def fired() -> Iterator[dict[str, str]]:
    """The labels of each alert that fires in promtool's tests."""
    for path in sorted((ROOT / "tests/alerts").glob("*_test.yaml")):
        for test in yaml.safe_load(path.read_text(encoding="utf-8"))["tests"]:
            for check in test["alert_rule_test"]:
                for alert in check.get("exp_alerts", ()):
                    yield {"alertname": check["alertname"], **alert["exp_labels"]}


def receiver_of(labels: dict[str, str], route: dict[str, Any]) -> str:
    """The receiver of the first route whose matchers all hold, as Alertmanager chooses it."""
    for inner in route.get("routes", ()):
        if all(holds(matcher, labels) for matcher in inner["matchers"]):
            return receiver_of(labels, inner)
    return str(route["receiver"])


def holds(matcher: str, labels: dict[str, str]) -> bool:
    parts = MATCHER.fullmatch(matcher)
    assert parts is not None, matcher
    name, operator, value = parts.groups()
    actual = labels.get(name, "")
    return re.fullmatch(value, actual) is not None if operator == "=~" else actual == value


@pytest.mark.parametrize("alert", OWNERS)
def test_an_alert_reaches_the_team_that_owns_it(alert: str) -> None:
    found = {receiver_of(labels, CONFIGURATION["route"]) for labels in fired() if labels["alertname"] == alert}
    assert found == OWNERS[alert]


def test_every_alert_has_an_owner() -> None:
    assert {labels["alertname"] for labels in fired()} == OWNERS.keys()


def test_an_alert_of_another_team_reaches_nobody_of_this_one() -> None:
    labels = {"alertname": "PaimonStalled", "namespace": "bank", "severity": "warning"}
    assert receiver_of(labels, CONFIGURATION["route"]) == "platform"


def test_every_receiver_of_a_route_exists() -> None:
    named = {CONFIGURATION["route"]["receiver"], *(each["receiver"] for each in CONFIGURATION["route"]["routes"])}
    assert named == {each["name"] for each in CONFIGURATION["receivers"]}
