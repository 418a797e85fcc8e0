"""How a Worker (spark_process) and the program in its JVM talk: JSON lines on a socket, whose port is in argv[1].

Standard input does not reach a program that spark-submit starts.
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable
from typing import Any


def serve(answer: Callable[[dict[str, Any]], Any]) -> None:
    """Answers request after request until the test closes the socket."""
    address = ("127.0.0.1", int(sys.argv[1]))
    with socket.create_connection(address) as connection, connection.makefile("rw", encoding="utf-8") as stream:
        for line in stream:
            stream.write(json.dumps(answer(json.loads(line))) + "\n")
            stream.flush()
