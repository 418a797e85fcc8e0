"""The search for values of Secrets finds every encoding of a value and nothing else."""

from __future__ import annotations

import base64
import json
import urllib.parse
from pathlib import Path

import pytest

from tests.cluster.layout import Layout
from tests.support.secret_search import files, found, in_logs_of
from tests.support.secret_values import SecretValue, register, registered

VALUE = 'pa+ss/w"rd\\of <2026?'
SECRET = SecretValue("password", VALUE.encode())


@pytest.mark.parametrize(
    "text",
    [
        VALUE,
        f"--conf x={VALUE}",
        json.dumps({"env": [{"value": VALUE}]}),
        '{"go":"pa+ss/w\\"rd\\\\of \\u003c2026?"}',
        f"jdbc://db/?password={urllib.parse.quote(VALUE, safe='')}&x=1",
        *[base64.b64encode((before + VALUE + "tail").encode()).decode() for before in ("", "u", "me", "me:")],
    ],
)
def test_a_value_is_found_in_every_encoding(text: str) -> None:
    assert found([SECRET], [("a log", f"before {text} after".encode())]) == ["password in a log"]


@pytest.mark.parametrize("text", ["", VALUE[:-1], VALUE.upper(), base64.b64encode(VALUE[:-4].encode()).decode()])
def test_another_text_is_not_found(text: str) -> None:
    assert found([SECRET], [("a log", f"before {text} after".encode())]) == []


def test_a_report_names_each_value_and_place_once_without_the_value() -> None:
    other = SecretValue("token", b"another secret value")
    places = [("pods shop/a", (VALUE * 2).encode()), ("pods shop/b", b"another secret value")]
    assert found([SECRET, other], places) == ["password in pods shop/a", "token in pods shop/b"]


def test_values_of_all_processes_are_registered_except_short_ones(tmp_path: Path) -> None:
    layout = _layout(tmp_path)
    assert registered(layout=layout) == set()
    register({"password": VALUE, "user": "paimon"}, layout=layout)
    register({"token": "another secret value"}, layout=layout)
    assert registered(layout=layout) == {SECRET, SecretValue("token", b"another secret value")}
    assert (layout.state / "secret-values.jsonl").stat().st_mode & 0o077 == 0


def test_the_logs_of_one_namespace_are_searched(tmp_path: Path) -> None:
    layout = _layout(tmp_path)
    register({"password": VALUE}, layout=layout)
    for namespace in ("shop", "bank"):
        log = layout.state / "log" / "pods" / f"{namespace}_driver-1_uid" / "driver" / "0.log"
        log.parent.mkdir(parents=True)
        log.write_text(f"stdout F {VALUE}\n" if namespace == "bank" else "stdout F fine\n")
    (layout.state / "log" / "pods" / "shop_driver-1_uid" / "driver" / "1.log").touch()
    assert in_logs_of("shop", layout) == []
    assert in_logs_of("bank", layout) == ["password in log of pod bank_driver-1_uid/driver/0.log"]
    assert list(files("x", tmp_path / "nowhere", "*")) == []


def _layout(tmp_path: Path) -> Layout:
    layout = Layout(checkout=tmp_path)
    layout.state.mkdir(parents=True)
    return layout
