"""The rules of the chart, faster by a factor: times are divided, and nothing else changes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.support.scaled_rules import milliseconds_of, scaled_duration, scaled_query, scaled_rules

ROOT: Final = Path(__file__).parents[2]
CHART: Final = yaml.safe_load((ROOT / "charts/paimon-operator/files/alerts.yaml").read_text(encoding="utf-8"))
FACTOR: Final = 120
IN_SECONDS: Final = {"PaimonOperatorCanaryLate": 60, "PaimonOperatorQueueOld": 60, "PaimonScheduleLate": 3600}
"""The alerts that compare a metric of seconds, and with how many."""
QUERIES: Final = [
    ("rate(x_total[5m])", "rate(x_total[2500ms])"),
    ("increase(x_total[1h] offset 1d) > 4.5", "increase(x_total[30000ms] offset 720000ms) > 4.5"),
    ("max_over_time(x[1h:2m])", "max_over_time(x[30000ms:1000ms])"),
    ("max by (pod) (x_seconds) > 60", "max by (pod) (x_seconds) > 0.5"),
    ('x_seconds{pod="a"} >= 3600', 'x_seconds{pod="a"} >= 30'),
    ("rate(x_seconds_sum[5m]) > 1", "rate(x_seconds_sum[2500ms]) > 1"),
    ("sum(x_seconds) / 3600", "sum(x_seconds) / 3600"),
    ("time() - x_timestamp_seconds", "time() - x_timestamp_seconds"),
]


@pytest.mark.parametrize(("query", "faster"), QUERIES)
def test_times_of_a_query_are_divided_and_other_numbers_stay(query: str, faster: str) -> None:
    assert scaled_query(query, FACTOR) == faster


@pytest.mark.parametrize(("text", "faster"), [("1h", "30000ms"), ("1h30m", "45000ms"), ("1w", "5040000ms")])
def test_a_duration_is_divided(text: str, faster: str) -> None:
    assert scaled_duration(text, FACTOR) == faster


@pytest.mark.parametrize("text", ["1ms", "5", "an hour", ""])
def test_a_duration_that_cannot_be_divided_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"duration|millisecond"):
        scaled_duration(text, FACTOR)


def rules(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [rule for group in document["groups"] for rule in group["rules"]]


PAIRS: Final = list(zip(rules(CHART), rules(scaled_rules(CHART, FACTOR)), strict=True))


@pytest.mark.parametrize(("rule", "faster"), PAIRS, ids=[rule["alert"] for rule, _ in PAIRS])
def test_a_rule_of_the_chart_differs_in_its_times_alone(rule: dict[str, Any], faster: dict[str, Any]) -> None:
    ranges = re.compile(r"\[(\w+)\]")
    for text, scaled in zip(ranges.findall(rule["expr"]), ranges.findall(faster["expr"]), strict=True):
        assert milliseconds_of(text) == FACTOR * milliseconds_of(scaled)
    assert ("for" in rule) == ("for" in faster)
    assert milliseconds_of(rule.get("for", "0s")) == FACTOR * milliseconds_of(faster.get("for", "0s"))
    seconds = IN_SECONDS.get(rule["alert"])
    expected = rule["expr"] if seconds is None else rule["expr"].replace(f"> {seconds}", f"> {seconds / FACTOR:g}")
    assert ranges.sub("[]", faster["expr"]) == ranges.sub("[]", expected)
    others = {key: value for key, value in rule.items() if key not in ("expr", "for")}
    assert {key: faster[key] for key in others} == others
