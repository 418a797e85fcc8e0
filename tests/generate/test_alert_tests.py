"""promtool tests each alert (`make test-chart`): here only that no alert is left out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

ROOT: Final = Path(__file__).parents[2]
RULES: Final = yaml.safe_load((ROOT / "charts/paimon-operator/files/alerts.yaml").read_text(encoding="utf-8"))
ALERTS: Final = [rule["alert"] for group in RULES["groups"] for rule in group["rules"]]


def checks(alert: str) -> Iterator[dict[str, Any]]:
    """What promtool expects of the alert, at several times."""
    for path in (ROOT / "tests/alerts").glob("*_test.yaml"):
        for test in yaml.safe_load(path.read_text(encoding="utf-8"))["tests"]:
            yield from (each for each in test["alert_rule_test"] if each["alertname"] == alert)


@pytest.mark.parametrize("alert", ALERTS)
def test_each_alert_is_tested_when_it_fires_and_when_it_does_not(alert: str) -> None:
    assert {bool(each.get("exp_alerts")) for each in checks(alert)} == {True, False}
