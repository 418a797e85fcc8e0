"""Requests for turns: what is repeated, for how long, and what is refused for good."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from paimon_contract.turns import MAX_BYTES, TurnAnswer, TurnOf, TurnReport, TurnRequest, answer_text
from spark_apps.driver.turns import PATIENCE_S, PAUSE_S, NotAnsweredError, TurnClient
from spark_apps.operator_http import OperatorHttp
from tests.spark_apps.observer.fake_operator import FakeOperator, serving

RUN = TurnOf(name="orders-expire", uid="u")
REQUEST = TurnRequest(report=TurnReport(run=RUN, result="{}"), next=RUN)


class Time:
    """A clock that only pauses advance."""

    def __init__(self) -> None:
        self.now = 0.0

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def read(self) -> float:
        return self.now


@pytest.fixture
def operator() -> Iterator[FakeOperator]:
    with serving(FakeOperator()) as made:
        made.text = answer_text(TurnAnswer(begin=True))
        yield made


def client_of(operator: FakeOperator, directory: Path, time: Time) -> TurnClient:
    (directory / "token").write_text("t\n")
    return TurnClient(OperatorHttp(operator.url, directory / "token", MAX_BYTES), time.sleep, time.read)


@pytest.mark.parametrize("begin", [True, False])
def test_the_answer_says_whether_the_turn_begins(operator: FakeOperator, tmp_path: Path, begin: bool) -> None:
    operator.text = answer_text(TurnAnswer(begin=begin))
    assert client_of(operator, tmp_path, Time()).ask(REQUEST) is begin
    asked = {"name": "orders-expire", "uid": "u"}
    assert operator.requests == [{"version": 1, "report": {"run": asked, "result": "{}"}, "next": asked}]
    assert operator.tokens == ["Bearer t"]


@pytest.mark.parametrize("statuses", [[503, 429, 500], [502]])
def test_a_request_that_no_leader_has_answered_is_repeated(
    operator: FakeOperator, tmp_path: Path, statuses: list[int]
) -> None:
    operator.statuses = [*statuses]
    assert client_of(operator, tmp_path, Time()).ask(REQUEST) is True
    assert len(operator.requests) == len(statuses) + 1


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_refusal_is_not_repeated(operator: FakeOperator, tmp_path: Path, status: int) -> None:
    operator.statuses = [status]
    with pytest.raises(NotAnsweredError, match=f"status {status}"):
        client_of(operator, tmp_path, Time()).ask(REQUEST)
    assert len(operator.requests) == 1


def test_the_driver_gives_up_after_its_patience(tmp_path: Path) -> None:
    with serving(FakeOperator()) as stopped:
        pass
    time = Time()
    with pytest.raises(NotAnsweredError, match="URLError"):
        client_of(stopped, tmp_path, time).ask(REQUEST)
    assert PATIENCE_S <= time.now < PATIENCE_S + PAUSE_S


def test_an_answer_that_is_none_is_no_permission(operator: FakeOperator, tmp_path: Path) -> None:
    operator.text = '{"version":1}'
    with pytest.raises(NotAnsweredError, match="lacks a key"):
        client_of(operator, tmp_path, Time()).ask(REQUEST)


@pytest.mark.parametrize("sent", [b"no http\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"])
def test_an_answer_that_is_no_whole_one_is_asked_for_again(tmp_path: Path, sent: bytes) -> None:
    """Python has an error of its own for each, which is no OSError."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        asked = FakeOperator()
        asked.url = f"http://127.0.0.1:{server.getsockname()[1]}"

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(MAX_BYTES)
                connection.sendall(sent)
            server.close()

        answering = threading.Thread(target=answer)
        answering.start()
        time = Time()
        with pytest.raises(NotAnsweredError, match="URLError"):
            client_of(asked, tmp_path, time).ask(REQUEST)
        answering.join()
    assert time.now >= PATIENCE_S, "it was repeated until nobody listened any more"
