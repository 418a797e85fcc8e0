"""The log: one JSON object per line on stderr."""

from __future__ import annotations

import logging
import sys
from typing import Final, TextIO

from pythonjsonlogger.json import JsonFormatter

_QUIET: Final = ("kopf.objects", "kopf.activities", "asyncio", "aiohttp", "kubernetes")
"""kopf logs every handler call at INFO; at DEBUG the clients would log bodies and headers, the token among them."""


def set_up(level: str, stream: TextIO = sys.stderr) -> None:
    """Writes all log records of this process to `stream`."""
    handler = logging.StreamHandler(stream)
    formatter = JsonFormatter(
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
