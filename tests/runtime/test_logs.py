"""The log: one JSON object per line, without the debug messages of clients, which contain tokens."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from paimon_operator.runtime import logs


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.StringIO()
    logs.set_up("DEBUG", stream)
    yield stream
    root.handlers[:] = handlers
    root.setLevel(level)


def test_each_record_is_one_line_of_json(log: io.StringIO) -> None:
    try:
        json.loads("first line\nsecond line")
    except ValueError:
        logging.getLogger("paimon_operator.x").exception("table %s\nbroke", "shop/orders")
    (line,) = log.getvalue().splitlines()
    record = json.loads(line)
    assert record["level"] == "ERROR"
    assert record["logger"] == "paimon_operator.x"
    assert record["message"] == "table shop/orders\nbroke"
    assert "JSONDecodeError" in record["exc_info"]
    assert record["time"]


@pytest.mark.parametrize("name", ["kubernetes.aio.client.rest", "aiohttp.client", "kopf.objects", "asyncio"])
def test_requests_and_their_headers_are_never_logged_even_at_debug(log: io.StringIO, name: str) -> None:
    logging.getLogger(name).debug("Authorization: Bearer abc")
    logging.getLogger(name).info("Authorization: Bearer abc")
    logging.getLogger(name).warning("kept")
    assert [json.loads(line)["message"] for line in log.getvalue().splitlines()] == ["kept"]
