"""The log: one JSON object per line on stderr. Lines about an object have its kind, namespace and name as fields."""

from __future__ import annotations

import logging
import sys
from typing import Any, Final, TextIO

from pythonjsonlogger.json import JsonFormatter

_QUIET: Final = ("kopf.objects", "kopf.activities", "asyncio", "aiohttp", "kubernetes")
"""kopf logs every handler call at INFO; at DEBUG the clients would log bodies and headers, the token among them."""
_FIELDS: Final = "fields"
"""Attribute of a record. `name` cannot be one itself: a record has the name of its logger there."""


def fields(kind: str, namespace: str, name: str, **more: object) -> dict[str, dict[str, object]]:
    """The `extra` of a line about an object. Fields that are None are left out."""
    about: dict[str, object] = {"kind": str(kind), "namespace": namespace, "name": name, **more}
    return {_FIELDS: {field: value for field, value in about.items() if value is not None}}


class _Formatter(JsonFormatter):
    """Writes the fields of a record beside its message."""

    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        about: dict[str, object] = log_data.pop(_FIELDS, {})
        return super().process_log_record({**log_data, **about})


def set_up(level: str, stream: TextIO = sys.stderr) -> None:
    """Writes all log records of this process to `stream`."""
    handler = logging.StreamHandler(stream)
    formatter = _Formatter(
        "%(asctime)s %(levelname)s %(name)s %(message)s",
        rename_fields={"asctime": "time", "levelname": "level", "name": "logger"},
        datefmt="%Y-%m-%dT%H:%M:%S%z",
    )
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
