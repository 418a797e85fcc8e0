"""The events of `kubectl get --watch`: one process that reports every change of the selected objects."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import IO, Any, Self

Object = dict[str, Any]


class EventStream:
    """Events of one `kubectl get --watch` inside a `with` block. The first events are the existing objects."""

    def __init__(self, arguments: Sequence[str], env: Mapping[str, str]) -> None:
        """`arguments` follow `kubectl`: namespace, kind and selection."""
        self._command = ["kubectl", *arguments, "--watch", "--output-watch-events", "-o", "json"]
        self._env = dict(env)
        self._events: queue.Queue[Object | None] = queue.Queue()
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop()

    def next(self, timeout: float) -> Object | None:
        """Next event, `{"type": "MODIFIED", "object": {...}}`. None after `timeout` seconds or at the end of a watch.

        An API server ends every watch at some time. The next call then starts another watch.
        """
        if self._process is None:
            self._start()
        try:
            event = self._events.get(timeout=timeout)
        except queue.Empty:
            return None
        if event is None:
            self._stop()
        return event

    def _start(self) -> None:
        self._process = subprocess.Popen(
            self._command, env=self._env, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._events = queue.Queue()
        arguments = (self._process.stdout, self._events)
        self._reader = threading.Thread(target=_read, args=arguments, name="kubectl watch", daemon=True)
        self._reader.start()

    def _stop(self) -> None:
        if self._process is None or self._reader is None:
            return
        self._process.kill()
        self._process.wait()
        self._reader.join()
        self._process = None


def _read(lines: IO[str], events: queue.Queue[Object | None]) -> None:
    """Puts every event, which is one line, into the queue, and None at the end."""
    with lines:
        for line in lines:
            events.put(json.loads(line))
    events.put(None)


def applied(objects: Mapping[str, Object], event: Object) -> dict[str, Object]:
    """The objects by name after `event`."""
    changed = event["object"]
    name = changed["metadata"]["name"]
    others = {key: each for key, each in objects.items() if key != name}
    return others if event["type"] == "DELETED" else {**others, name: changed}
