"""The channel between a Worker (spark_process) and its program: JSON lines on a socket, whose port is in argv[1].

spark-submit does not pass standard input to its program.
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable
from typing import Any


def serve(answer: Callable[[dict[str, Any]], Any]) -> None:
    """Answers each request until the test closes the socket."""
    address = ("127.0.0.1", int(sys.argv[1]))
    with socket.create_connection(address) as connection, connection.makefile("rw", encoding="utf-8") as stream:
        for line in stream:
            stream.write(json.dumps(answer(json.loads(line))) + "\n")
            stream.flush()
