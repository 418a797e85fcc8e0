"""A driver's result is read as what a stranger could have written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from paimon_operator.api.run.result import MAX_INT64, read_result
from paimon_operator.api.table.writes import MAX_WRITES
from paimon_operator.errors import ContractError

RESULT = {"version": 1, "run": "orders-write-1", "operation": "Write", "ok": True}


def read(**more: Any) -> Any:
    return read_result(json.dumps(RESULT | more))


@pytest.mark.parametrize(
    "sign",
    ["\x1b[2J", "\u202e", "\x07", "\r\n", "\x00", "\u2028"],
    ids=["escape", "right to left", "bell", "lines", "NUL", "line separator"],
)
def test_what_a_terminal_would_interpret_is_removed_from_texts(sign: str) -> None:
    error = {"class": "Spec", "reason": "InputInvalid", "message": f"bad {sign} value", "field": f"spec{sign}"}
    found = read(ok=False, error=error).error
    assert found.message.isprintable()
    assert found.field.isprintable()
    assert found.message.startswith("bad ")


@pytest.mark.parametrize(
    "part",
    [
        {"seenSnapshot": MAX_INT64 + 1},
        {"table": {"rows": 10**30}},
        {"write": {"rows": -(2**64)}},
        {"ms": {"session": 2**63, "total": 1}},
        {"table": {"rows": "9" * 30}},
        {"table": {"rows": 1e17}},
        {"expired": 2**31},
        {"expired": -1},
        {"seenSnapshot": -2},
    ],
    ids=str,
)
def test_a_number_that_no_status_can_hold_makes_it_no_result(part: dict[str, Any]) -> None:
    with pytest.raises(ContractError):
        read(**part)


@pytest.mark.parametrize(
    "loaded",
    [
        [{"name": "-not-a-name", "hash": "8f3a91c2"}],
        [{"name": "import", "hash": "no hash"}],
        [{"name": f"w{number}", "hash": "8f3a91c2"} for number in range(MAX_WRITES + 1)],
    ],
    ids=["name", "hash", "too many"],
)
def test_loaded_writes_that_no_status_can_hold_make_it_no_result(loaded: list[dict[str, str]]) -> None:
    with pytest.raises(ContractError):
        read(operation="Provision", loaded=loaded)


def test_the_largest_number_is_read() -> None:
    assert read(table={"rows": MAX_INT64}).table.rows == MAX_INT64


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 4000, "null", '"text"', "{}" * 9], ids=lambda text: text[:9] or "empty"
)
def test_a_text_that_is_no_document_is_no_result(text: str) -> None:
    with pytest.raises(ContractError):
        read_result(text)
