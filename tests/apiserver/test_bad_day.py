"""A real Prometheus with the chart's rules scrapes a real operator on a bad day, and answers who is on call.

All ten alerts fire, because something happens to a real operator, and clear when it ends. The times of the rules are
divided by one factor (`bad_day.FACTOR`). So this does not show that the durations themselves are sensible or exact:
promtool does (`tests/alerts`).

`make test` plays the first part of the day, `make test-long` the whole.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Final

import pytest

from tests.apiserver.bad_day import ALERTS, CAUSES, FACTOR, Day
from tests.apiserver.bad_day_script import FORGOTTEN, afternoon, morning
from tests.apiserver.conftest import serving
from tests.apiserver.page_commands import run_commands
from tests.apiserver.prometheus_server import SCRAPE_MS, Series
from tests.support.dashboard import panels
from tests.support.docs_commands import Answer, answers_of, blocks_below, section_of
from tests.support.scaled_rules import scaled_query

OF_THE_MORNING: Final = ("PaimonStalled", "PaimonCommitSafeLost", "PaimonOperatorNoLeader")
PANELS: Final = panels(scrape_ms=SCRAPE_MS * FACTOR)
ZERO: Final = {"Tables without series of their own"}
"""Panels whose good value is the only one of this day."""
OF_THE_AFTERNOON: Final = {
    "Lateness of started schedules, 95th percentile", "Latest schedule", "Bugs, per hour", "Longest wait for a worker",
    "Queue", "Heartbeat awaited", "Requests that wait for the rate limit",
}  # fmt: skip
"""Panels that stay at 0 until then."""
PAGE: Final = "docs/monitoring.md"
ANSWERS: Final = answers_of(PAGE, "## Questions of a person on call")
QUERIES: Final = [each for each in ANSWERS if each.language == "promql"]
COMMANDS: Final = [each for each in ANSWERS if each.language == "console"]
LATER: Final = re.compile(r"rate_limit_wait|reconcile_bugs|schedule_")
"""Queries whose answer is 0, or no number, until the afternoon."""
SAYS: Final = {
    "SINCE:": rf"shop +{FORGOTTEN} +True +20\S+Z +\S",
    "ENDED:": r"away-1-write-\S+ +Failed +20\S+Z +the storage does not answer. Start it",
    '"phase": "Failed"': r'"table": "away-1", .*"reason": "StorageUnreachable"',
    "PODSECONDS:": r"shop +orders +\d+ +\d+",
    '"attempt"': r"PaimonRun shop/late-compact-by-hand: attempt 1 starts",
}
"""What a command says, by a part of the command."""
RUNBOOKS: Final = "docs/runbooks.md"
LOOKED_AT: Final = [(alert, text) for alert in ALERTS for text in blocks_below(RUNBOOKS, f"## {alert}", "console")]
RUNBOOK_QUERIES: Final = [
    (alert, text)
    for alert in ALERTS
    for text in re.findall(r"`(\w[^`\n]*\(paimon_operator_[^`\n]+)`", section_of(RUNBOOKS, f"## {alert}"))
]


@pytest.fixture(scope="module")
def half_day(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Day]:
    """The first part of the day. On a server of its own: the docs name its namespaces."""
    with serving(tmp_path_factory) as server, Day(server, tmp_path_factory.mktemp("bad-day")) as day:
        morning(day)
        yield day


@pytest.fixture(scope="module")
def day(half_day: Day) -> Day:
    """The whole day."""
    afternoon(half_day)
    return half_day


def firing(day: Day, alert: str, at: float) -> list[Series]:
    """What of the alert fired at a time."""
    return day.prometheus.query(f'ALERTS{{alertname="{alert}", alertstate="firing"}}', at=at)


def check_story(day: Day, alert: str) -> None:
    """The alert is quiet before its cause, fires by its labels, and is quiet after the end of the cause."""
    story = day.stories[alert]
    assert day.began < story.before < story.fired <= story.ended < story.cleared
    assert firing(day, alert, story.before) == []
    fired = [series.labels for series in firing(day, alert, story.fired)]
    for labels in CAUSES[alert]:
        assert any(labels.items() <= each.items() for each in fired), fired
    assert firing(day, alert, story.cleared) == []
    assert day.prometheus.alerts()[alert].error == ""
    for document in story.documents:
        for text in document["annotations"].values():
            assert "<" not in text, "Prometheus writes <no value> or <error ...> for a template that is wrong"
            assert "{{" not in text


@pytest.mark.parametrize("alert", OF_THE_MORNING)
def test_an_alert_fires_and_clears_in_the_morning(half_day: Day, alert: str) -> None:
    check_story(half_day, alert)


def test_every_alert_of_the_chart_has_a_cause() -> None:
    assert set(CAUSES) == set(ALERTS)


@pytest.mark.long
@pytest.mark.parametrize("alert", ALERTS)
def test_every_alert_is_quiet_before_its_cause_fires_and_clears_after_it(day: Day, alert: str) -> None:
    check_story(day, alert)


def numbers(day: Day, query: str) -> list[float]:
    """The values of a query of the chart or the docs over the day, without NaN."""
    found = day.prometheus.history(scaled_query(query, FACTOR), begin=day.began, end=day.ended)
    return [value for series in found for _, value in series.values if not math.isnan(value)]


@pytest.mark.parametrize("title", [title for title in PANELS if title not in OF_THE_AFTERNOON])
def test_a_panel_shows_numbers_in_the_morning(half_day: Day, title: str) -> None:
    values = numbers(half_day, PANELS[title])
    assert values != []
    assert title in ZERO or max(values) > 0, values


@pytest.mark.long
@pytest.mark.parametrize("title", sorted(OF_THE_AFTERNOON))
def test_a_panel_shows_numbers_in_the_afternoon(day: Day, title: str) -> None:
    assert max(numbers(day, PANELS[title])) > 0


def test_the_dashboard_finds_the_namespaces(half_day: Day) -> None:
    assert half_day.prometheus.label_values("paimon_operator_objects", "namespace") == ["shop"]


@pytest.mark.parametrize("answer", [each for each in QUERIES if not LATER.search(each.text)], ids=str)
def test_a_query_of_the_page_has_an_answer(half_day: Day, answer: Answer) -> None:
    assert max(numbers(half_day, answer.text)) > 0


@pytest.mark.long
@pytest.mark.parametrize("answer", [each for each in QUERIES if LATER.search(each.text)], ids=str)
def test_a_query_of_the_page_has_an_answer_in_the_afternoon(day: Day, answer: Answer) -> None:
    assert max(numbers(day, answer.text)) > 0


@pytest.mark.parametrize("answer", COMMANDS, ids=str)
def test_a_command_of_the_page_says_what_it_is_for(half_day: Day, answer: Answer) -> None:
    (expected,) = [says for part, says in SAYS.items() if part in answer.text]
    assert re.search(expected, run(half_day, at_this_hour(half_day, answer.text))) is not None


def at_this_hour(day: Day, text: str) -> str:
    """The command with the hour of the day's first attempt, by the operator's log, for that of the page."""
    (began,) = re.findall(r'"time": "\S+(T\d\d:)\S+".*orders-provision\S+ attempt 1 starts', logs(day))
    return text.replace("T02:", began)


def logs(day: Day) -> str:
    return run(day, "kubectl -n paimon-system logs -l app.kubernetes.io/name=paimon-operator --tail -1")


def run(day: Day, commands: str) -> str:
    """What the commands of a page print, with the rights of an administrator."""
    return run_commands(day.kubeconfig, commands)


@pytest.mark.parametrize(("alert", "query"), RUNBOOK_QUERIES, ids=[alert for alert, _ in RUNBOOK_QUERIES])
def test_a_query_of_a_runbook_has_an_answer(half_day: Day, alert: str, query: str) -> None:
    assert max(numbers(half_day, query)) > 0


@pytest.mark.long
@pytest.mark.parametrize(("alert", "text"), LOOKED_AT, ids=[alert for alert, _ in LOOKED_AT])
def test_the_commands_of_a_runbook_print_something(day: Day, alert: str, text: str) -> None:
    failed = re.findall(r"away-1-write-\S+(?=: the run ended: Failed)", logs(day))
    assert run(day, text.replace("orders-compact-1a2b3c4d", failed[0])) != ""
