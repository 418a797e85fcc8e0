"""Requests to the operator: the token, replicas that do not lead, and answers that are not taken."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from paimon_contract.looks import MAX_BYTES, LookRequest, SameTable, TableToLook
from spark_apps.observer.client import PAUSE_S, TRIES, NotReportedError, OperatorClient
from tests.spark_apps.observer.fake_operator import FakeOperator, serving

TABLE = TableToLook(uid="u", database="shop", name="orders")


@pytest.fixture
def operator() -> Iterator[FakeOperator]:
    with serving(FakeOperator([TABLE])) as made:
        yield made


@pytest.fixture
def client(operator: FakeOperator, tmp_path: Path) -> OperatorClient:
    (tmp_path / "token").write_text("first\n")
    return OperatorClient(operator.url, tmp_path / "token", sleep=lambda _: None)


def test_a_request_is_answered_with_what_to_look_at(operator: FakeOperator, client: OperatorClient) -> None:
    answer = client.send(LookRequest(age_seconds=3, same=(SameTable(uid="u", snapshot_id=7),)))
    assert (answer.tables, answer.interval_seconds) == ((TABLE,), 60)
    same = [{"uid": "u", "snapshotId": 7}]
    assert operator.requests == [{"version": 1, "ageSeconds": 3, "tables": [], "same": same}]


def test_the_token_is_read_for_each_request(operator: FakeOperator, client: OperatorClient) -> None:
    client.send(LookRequest())
    client.token_file.write_text("second\n")
    client.send(LookRequest())
    assert operator.tokens == ["Bearer first", "Bearer second"]


def test_a_replica_that_does_not_lead_is_followed_by_another_try(operator: FakeOperator, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("t")
    pauses: list[float] = []
    operator.statuses = [503, 503, 429]
    assert OperatorClient(operator.url, tmp_path / "token", sleep=pauses.append).send(LookRequest()).tables == (TABLE,)
    assert pauses == [PAUSE_S] * 3


@pytest.mark.parametrize("status", [400, 401, 403, 413, 500])
def test_a_refusal_is_not_repeated(operator: FakeOperator, client: OperatorClient, status: int) -> None:
    operator.statuses = [status]
    with pytest.raises(NotReportedError, match=f"status {status}"):
        client.send(LookRequest())
    assert len(operator.requests) == 1


def test_no_request_is_sent_more_often_than_the_tries(operator: FakeOperator, client: OperatorClient) -> None:
    operator.statuses = [503] * (TRIES + 1)
    with pytest.raises(NotReportedError, match="status 503"):
        client.send(LookRequest())
    assert len(operator.requests) == TRIES


def test_a_redirect_gets_no_token(operator: FakeOperator, client: OperatorClient) -> None:
    with serving(FakeOperator()) as elsewhere:
        operator.statuses, operator.location = [302], elsewhere.url
        with pytest.raises(NotReportedError, match="status 302"):
            client.send(LookRequest())
        assert elsewhere.requests == []


def test_no_proxy_of_the_environment_gets_the_token(
    operator: FakeOperator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("t")
    with serving(FakeOperator()) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        OperatorClient(operator.url, tmp_path / "token").send(LookRequest())
        assert (len(operator.requests), proxy.requests) == (1, [])


WRONG_ANSWERS = {
    "no JSON": ("<html>", "is not JSON"),
    "another version": ('{"version": 2, "intervalSeconds": 60, "tables": []}', "not of version 1"),
    "an unknown key": ('{"version": 1, "intervalSeconds": 60, "more": 1}', "unknown key more"),
    "no interval": ('{"version": 1, "intervalSeconds": 0, "tables": []}', "out of bounds"),
    "a name that leaves the warehouse": (
        '{"version": 1, "intervalSeconds": 60, "tables": [{"uid": "u", "database": "..", "name": "t"}]}',
        "no name of a table",
    ),
    "too large": (f'{{"version": 1, "intervalSeconds": 60}}{" " * MAX_BYTES}', "more than"),
}


@pytest.mark.parametrize(("text", "why"), WRONG_ANSWERS.values(), ids=WRONG_ANSWERS)
def test_an_answer_is_not_taken_with(operator: FakeOperator, client: OperatorClient, text: str, why: str) -> None:
    operator.text = text
    with pytest.raises(NotReportedError, match=why):
        client.send(LookRequest())


def test_an_operator_that_is_away_is_reported(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("t")
    with serving(FakeOperator()) as gone:
        pass
    with pytest.raises(NotReportedError):
        OperatorClient(gone.url, tmp_path / "token").send(LookRequest())


def test_a_missing_token_is_reported(operator: FakeOperator, tmp_path: Path) -> None:
    with pytest.raises(NotReportedError, match="FileNotFoundError"):
        OperatorClient(operator.url, tmp_path / "none").send(LookRequest())
    assert operator.requests == []
