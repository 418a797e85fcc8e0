"""The observer's rounds: what is reported of each, and what happens while the operator is away."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paimon_contract import environment
from paimon_contract.job import JobCatalog
from paimon_contract.looks import MAX_REPORTED, ObserverConfig, config_text
from spark_apps.observer.client import OperatorClient
from spark_apps.observer.main import MOST_PAUSE_S, SENDING_S, ObserverLoop
from spark_apps.observer.passes import BLIND_PASSES
from spark_apps.observer.reports import reports_of
from spark_apps.observer.table import WatchedTable
from tests.spark_apps.observer.fake_operator import FakeOperator, serving
from tests.support.fabricated_avro import data_file
from tests.support.fabricated_warehouse import FabricatedWarehouse


class Observed:
    """A warehouse of two tables, its observer, and the operator that it reports to."""

    def __init__(self, root: Path, operator: FakeOperator) -> None:
        self.warehouse, self.operator = FabricatedWarehouse(root / "lake", 2), operator
        operator.tables = self.warehouse.wanted()
        (root / "token").write_text("t")
        client = OperatorClient(operator.url, root / "token", sleep=lambda _: None)
        self.loop = ObserverLoop(self.warehouse.watched, client, 60.0, sleep=self._sleep)
        self.pauses: list[float] = []

    def round(self) -> list[dict[str, Any]]:
        """Makes a round. Returns its requests."""
        before = len(self.operator.requests)
        self.loop.round()
        return self.operator.requests[before:]

    def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)


@pytest.fixture
def observed(tmp_path: Path) -> Iterator[Observed]:
    with serving(FakeOperator()) as operator:
        yield Observed(tmp_path, operator)


def changed(request: dict[str, Any]) -> list[str]:
    return [each["uid"] for each in request["tables"]]


def same(request: dict[str, Any]) -> list[tuple[str, int]]:
    return [(each["uid"], each["snapshotId"]) for each in request["same"]]


def test_the_first_round_asks_what_to_look_at_and_reports_each_table(observed: Observed) -> None:
    asking, report = observed.round()
    assert (asking["tables"], asking["same"]) == ([], [])
    assert (changed(report), same(report)) == (["uid-0", "uid-1"], [])
    assert report["tables"][0]["table"]["snapshotId"] == 1
    assert report["ageSeconds"] >= SENDING_S


def test_later_rounds_report_what_has_changed_and_name_the_rest(observed: Observed) -> None:
    observed.round()
    observed.warehouse.tables[1].commit([data_file("c")])
    (report,) = observed.round()
    assert (changed(report), same(report)) == (["uid-1"], [("uid-0", 1)])


def test_a_reason_is_reported_once_and_an_unreadable_table_is_never_called_the_same(observed: Observed) -> None:
    observed.round()
    (observed.warehouse.tables[0].root / "snapshot" / "snapshot-1").write_text("{")
    observed.warehouse.tables[0].write_hint(1)
    said = [observed.round()[0] for _ in range(4)]
    assert [changed(each) for each in said] == [[], ["uid-0"], [], []]
    assert "snapshot-1" in said[1]["tables"][0]["unknown"]
    assert all("uid-0" not in dict(same(each)) for each in said)


def test_the_log_tells_how_many_tables_cannot_be_read_and_why(
    observed: Observed, capfd: pytest.CaptureFixture[str]
) -> None:
    observed.round()
    assert "cannot be read" not in capfd.readouterr().out
    (observed.warehouse.tables[0].root / "snapshot" / "snapshot-1").write_text("{")
    observed.warehouse.tables[0].write_hint(1)
    for _ in range(2):
        observed.round()
    said = capfd.readouterr().out
    assert "observed 2 of 2 tables" in said
    assert re.search(r", 1 cannot be read: .*snapshot-1", said)


def test_what_a_lost_report_has_found_is_looked_at_again_before_it_is_reported(observed: Observed) -> None:
    observed.round()
    observed.warehouse.tables[1].commit([data_file("c")])
    observed.operator.statuses = [500]
    observed.round()
    observed.warehouse.watched.tables["uid-1"].turn = 1
    asking, report = observed.round()
    assert (asking["tables"], changed(report)) == ([], ["uid-1"])


def test_nothing_is_looked_at_while_the_operator_is_away(observed: Observed) -> None:
    observed.round()
    observed.operator.statuses = [500] * 3
    observed.round()
    observed.warehouse.files.asked.clear()
    observed.round()
    observed.round()
    assert observed.warehouse.files.asked == []
    assert observed.loop.pause_s == MOST_PAUSE_S
    assert len(observed.round()) == 2
    assert observed.loop.pause_s == 60


def test_an_operator_that_has_started_again_gets_every_table_again(observed: Observed) -> None:
    observed.round()
    observed.operator.tables = observed.warehouse.wanted(wanted=True)
    observed.round()
    assert changed(observed.round()[0]) == ["uid-0", "uid-1"]


def test_a_table_that_the_operator_does_not_name_any_more_is_forgotten(observed: Observed) -> None:
    observed.round()
    del observed.operator.tables[0]
    observed.round()
    assert same(observed.round()[0]) == [("uid-1", 1)]


def test_an_observer_that_can_read_nothing_ends_to_get_the_credentials_of_now(observed: Observed) -> None:
    for table in observed.warehouse.tables:
        (table.root / "schema" / "schema-0").unlink()
    observed.loop.run()
    assert observed.warehouse.watched.passes == BLIND_PASSES


def test_many_tables_are_reported_in_several_requests(observed: Observed) -> None:
    tables = {str(n): WatchedTable("", found="why", looked=True) for n in range(MAX_REPORTED + 1)}
    reports = list(reports_of(tables))
    assert [len(each.request.tables) for each in reports] == [MAX_REPORTED, 1]
    reports[1].record_sent()
    assert [table.has_news for table in tables.values()] == [True] * MAX_REPORTED + [False]


def process(tmp_path: Path, url: str) -> subprocess.Popen[str]:
    """The program itself, observing a volume."""
    catalog = JobCatalog(f"file://{tmp_path}/lake", "filesystem")
    config = ObserverConfig(
        engine="paimon-1.4", catalog=catalog, url=url, token_file=f"{tmp_path}/token", interval_seconds=60
    )
    return subprocess.Popen(
        [sys.executable, "-m", "spark_apps.observer.main"],
        env={environment.OBSERVER_CONFIG: config_text(config)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_the_program_reports_and_ends_at_sigterm_with_success(observed: Observed, tmp_path: Path) -> None:
    running = process(tmp_path, observed.operator.url)
    assert running.stdout is not None
    with running:
        assert json.loads(running.stdout.readline())["message"].startswith("observed 2 of 2 tables")
        running.send_signal(signal.SIGTERM)
        assert running.wait(timeout=10) == 0
    assert [changed(each) for each in observed.operator.requests] == [[], ["uid-0", "uid-1"]]


def test_the_program_says_why_it_cannot_start() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "spark_apps.observer.main"], env={}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    said = json.loads(ended.stderr)["message"]
    assert said == "the observer cannot start: config is not JSON: Expecting value: line 1 column 1 (char 0)"


def test_the_program_imports_neither_spark_nor_a_jvm() -> None:
    code = "import sys, spark_apps.observer.main; print([m for m in ('pyspark', 'py4j') if m in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"
