"""Drift with the real operator process: what is found, reported, accepted and taken back.

What drivers find is scripted here. What they find in real tables is in tests/spark/test_drift.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from tests.apiserver.finding_drift import OPTION, WRITTEN, WatchedTable, found, measure, request
from tests.apiserver.namespace_client import RUNS, TABLES, NamespaceClient
from tests.apiserver.replicas import namespace_with_operator
from tests.cluster.apiserver import ApiServer
from tests.support.manifests import Manifest, run

ACCEPT = "paimon-operator.dev/accept-drift"


@pytest.fixture(scope="module")
def ns(api_server: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NamespaceClient]:
    with namespace_with_operator(api_server, "drift", tmp_path_factory.mktemp("operator")) as ns:
        yield ns


def test_another_schema_starts_a_look_and_its_find_is_reported_once_and_stays_until_it_is_accepted(
    ns: NamespaceClient,
) -> None:
    table = WatchedTable(ns, "reported")
    ns.create(run(metadata__name="compact", spec__tableRef__name=table.name))
    table.end("Compact", table=measure(1))

    look = table.end("Observe", drift=found(1, OPTION), table=measure(1))

    assert ns.get(RUNS, look.run)["spec"]["trigger"]["type"] == "Schedule"
    assert ns.read_job(look)["observe"]["drift"]["schemaId"] == 0
    drifted = table.wait("Drifted", "True", "TableAltered")
    said = f"option snapshot.num-retained.min has changed: 3 -> 5 (latest schema 1 of {WRITTEN})"
    assert said in drifted["message"]
    drift = table.status["drift"]
    assert (drift["changes"], drift["schemaId"], drift["schemaTime"]) == ([OPTION], 1, WRITTEN)
    table.wait("Ready", "True", "TableMatchesSpec")

    table.look("look-again", OPTION, schema=1)
    ns.patch(TABLES, table.name, {"metadata": {"annotations": {ACCEPT: "1"}}})
    table.wait("Drifted", "False", "TableUnaltered")
    ns.wait_for_event("TableUnaltered", "they were reverted, declared or accepted (latest schema 1)")
    assert table.events("TableAltered") == [said], "the second look has found nothing new"

    request(ns, table.name, "look-from-there", "Observe")
    assert ns.read_job(table.end("Observe", drift=found(1, baseline=1)))["observe"]["drift"]["schemaId"] == 1
    assert table.wait("Drifted", "False")["message"] == "nobody else has changed the table up to schema 1"


CONTESTED = "Somebody else and the operator both change snapshot.num-retained.min (corrected at "
LIMIT = "The table was corrected three times within an hour. "
KEEPS, EXPIRES, COMMENTS = "snapshot.num-retained.min", "snapshot.time-retained", "comment.of-somebody"


@pytest.mark.parametrize(
    ("fields", "reason", "said"),
    [
        pytest.param([KEEPS, KEEPS, KEEPS], "DriftContested", CONTESTED, id="one-field-again"),
        pytest.param([KEEPS, EXPIRES, COMMENTS, "a.fourth"], "CorrectionLimitReached", LIMIT, id="four-fields"),
    ],
)
def test_changes_are_taken_back_until_a_limit_and_the_status_says_when_the_next_one_is(
    ns: NamespaceClient, fields: list[str], reason: str, said: str
) -> None:
    kept = {"successfulRunsHistoryLimit": 20}
    table = WatchedTable(ns, f"corrected-{reason.lower()}", driftPolicy="Correct", runPolicy=kept)
    *corrected, last = [OPTION | {"field": field, "correctable": True} for field in fields]
    for number, change in enumerate(corrected):
        table.look(f"{table.name}-{number}", change, schema=2 * number + 1)
        assert table.correct(change, schema=2 * number + 2)["provision"]["corrects"] is True
        table.wait("Drifted", "False", "TableUnaltered")

    table.look(f"{table.name}-last", last, schema=9)

    message = table.wait("Drifted", "True", reason)["message"]
    until = table.status["drift"]["nextCorrection"]
    assert said in message
    assert f"The operator corrects the table again at {until}." in message
    assert moment(until) == moment(table.status["drift"]["corrections"][0]["time"]) + timedelta(hours=1, seconds=1)
    table.look(f"{table.name}-after", last, schema=9)
    assert len(runs_of(ns, table.name, "Provision")) == 1 + len(corrected), "the creation and the corrections"


UNCHANGED = {key: value for key, value in found(0).items() if key != "changes"}


@pytest.mark.parametrize(
    ("type_", "result", "status", "message"),
    [
        ("Describe", {"described": 7}, {"described": 7}, "the log describes 7 tables"),
        ("Observe", {"drift": UNCHANGED}, {"drift": UNCHANGED}, "schema 0 was compared: no change by others"),
    ],
)
def test_a_run_that_a_user_requests_is_started_and_reports_in_its_status(
    ns: NamespaceClient, type_: str, result: Manifest, status: Manifest, message: str
) -> None:
    name = f"by-hand-{type_.lower()}"
    table = WatchedTable(ns, name)
    request(ns, table.name, name, type_)

    pod = table.end(type_, **result)

    assert pod.run == name
    assert ns.wait_for_condition(RUNS, name, "Succeeded", "True")["message"] == message
    seen = ns.get(RUNS, name)["status"]
    assert {key: seen[key] for key in status} == status
    assert seen["reason"]["trigger"] == "User"


def runs_of(ns: NamespaceClient, table: str, type_: str) -> list[Manifest]:
    return [each for each in ns.all(RUNS) if (each["spec"]["tableRef"]["name"], each["spec"]["type"]) == (table, type_)]


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
