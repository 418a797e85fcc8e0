"""A proxy before an API server whose watches are late, lose events, repeat old ones and mix their order.

It also ends its client's process at a write, like `killing_proxy`.
"""

from __future__ import annotations

import http.client
import json
import random
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from tests.apiserver.forwarding_proxy import forwarding
from tests.apiserver.killing_proxy import KillingHandler, KillingProxy
from tests.cluster.apiserver import ApiServer

_DISTURBED: Final = re.compile(r"/(paimontables|paimonruns|paimoncatalogs|pods)\?")
_AS_IT_IS: Final = ("BOOKMARK", "ERROR")
LOST, LATE = 0.15, 0.30
"""Shares of the events that are never delivered, and that are delivered later."""
REPEATED: Final = 3
"""Most old events of a watch that are delivered again at once."""


@dataclass
class _Watch:
    """One watch whose client still listens."""

    send: Callable[[bytes], None]
    held: list[bytes] = field(default_factory=list)
    delivered: list[bytes] = field(default_factory=list)


class StaleProxy(KillingProxy):
    """Without `dice` all events are delivered at once."""

    def __init__(self, server: ApiServer, dice: random.Random | None) -> None:
        super().__init__(server)
        self._dice, self._lock = dice, threading.Lock()
        self._watches: list[_Watch] = []

    def add(self, send: Callable[[bytes], None]) -> _Watch:
        """Records a watch that has begun."""
        with self._lock:
            self._watches.append(watch := _Watch(send))
        return watch

    def remove(self, watch: _Watch) -> None:
        """Forgets a watch that has ended, with its late events."""
        with self._lock:
            self._watches.remove(watch)

    def pass_event(self, watch: _Watch, event: bytes) -> None:
        """Loses, holds or delivers an event."""
        with self._lock:
            if json.loads(event)["type"] in _AS_IT_IS:
                return watch.send(event)
            chance = 1.0 if self._dice is None else self._dice.random()
            if chance < LOST:
                return None
            if chance < LOST + LATE:
                return watch.held.append(event)
            watch.send(event)
            return watch.delivered.append(event)

    def release(self) -> None:
        """Delivers the late events in any order, and some old ones again. A deletion is never repeated by a watch."""
        with self._lock:
            for watch in self._watches:
                late, watch.held = watch.held, []
                if self._dice is not None:
                    again = [each for each in watch.delivered if json.loads(each)["type"] != "DELETED"]
                    late += self._dice.sample(again, min(REPEATED, len(again)))
                    self._dice.shuffle(late)
                for event in late:
                    watch.send(event)

    def end_disturbance(self) -> None:
        """From now on all events are delivered."""
        with self._lock:
            self._dice = None
        self.release()


@contextmanager
def stale_proxy(server: ApiServer, dice: random.Random | None) -> Iterator[StaleProxy]:
    """Serves until the end of the block."""
    with forwarding(StaleProxy(server, dice), _Handler) as proxy:
        yield proxy


class _Handler(KillingHandler[StaleProxy]):
    def pass_watch(self, response: http.client.HTTPResponse) -> None:
        if not _DISTURBED.search(self.path):
            return super().pass_watch(response)
        watch = self.proxy.add(self._send_if_open)
        try:
            while event := response.readline():
                self.proxy.pass_event(watch, event)
        finally:
            self.proxy.remove(watch)
        return None

    def _send_if_open(self, event: bytes) -> None:
        try:
            self.send_part(event)
        except OSError:  # its client was killed; the watch ends when the API server notices
            self.close_connection = True
