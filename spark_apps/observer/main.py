"""The observer's program: `python -m spark_apps.observer.main`, configured by the variable OBSERVER_CONFIG.

It runs until it is terminated. Its state is in memory alone: after a restart each table is read once as a whole.
"""

from __future__ import annotations

import faulthandler
import math
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from paimon_contract import environment
from paimon_contract.documents import DocumentError
from paimon_contract.looks import LookAnswer, LookRequest, ObserverConfig, read_config
from paimon_engines.loader import load_engine
from spark_apps.metadata import files_in
from spark_apps.metadata.base import UnreadableError
from spark_apps.observer.bounded_files import BoundedFiles
from spark_apps.observer.client import PAUSE_S, TRIES, NotReportedError, OperatorClient
from spark_apps.observer.passes import BLIND_PASSES, Watched
from spark_apps.observer.reports import reports_of
from spark_apps.operator_http import TIMEOUT_S
from spark_apps.progress import log_error, log_step

STUCK_AFTER_S: Final = 900
"""Seconds without progress after which the process ends, so that the kubelet starts it again."""
SENDING_S: Final = TIMEOUT_S + math.ceil(TRIES * PAUSE_S)
"""Seconds that a request may take to arrive. They count as age, so that no look seems newer than it is."""
MOST_PAUSE_S: Final = 300
"""Longest pause while the operator does not answer."""


@dataclass
class ObserverLoop:
    """Looks at the tables that the operator names and reports what it has found."""

    watched: Watched
    client: OperatorClient
    interval_s: float
    sleep: Callable[[float], object] = time.sleep
    clock: Callable[[], float] = time.monotonic
    answer: LookAnswer | None = None
    """The last one; None: the operator has to be asked before anything is looked at."""
    failures: int = 0

    def run(self) -> None:
        """Runs until no table could be read for BLIND_PASSES passes."""
        while not self.watched.is_blind:
            began = self.clock()
            self.round()
            self.watched.on_progress()
            self.sleep(max(1.0, self.pause_s - (self.clock() - began)))

    @property
    def pause_s(self) -> float:
        """Seconds from the start of this round to the start of the next one."""
        return min(max(float(MOST_PAUSE_S), self.interval_s), self.interval_s * float(2**self.failures))

    def round(self) -> None:
        """Asks what to look at if that is not known, looks, and reports. A failure to report keeps what was found."""
        try:
            if self.answer is None:
                self._take(self.client.send(LookRequest()))
            self._pass()
            self.failures = 0
        except NotReportedError as error:
            self.answer, self.failures = None, min(self.failures + 1, 16)
            log_step(f"the operator has no report: {error}")

    def _pass(self) -> None:
        began, watched = self.clock(), self.watched
        watched.look()
        took, changed = self.clock() - began, 0
        for report in reports_of(watched.tables):
            age = math.ceil(self.clock() - began) + SENDING_S
            answer = self.client.send(replace(report.request, age_seconds=age))
            report.record_sent()
            changed += len(report.news)
            self._take(answer)
        looked = [table.found for table in watched.tables.values() if table.looked]
        unread = [found for found in looked if isinstance(found, str)]
        said = f", {len(unread)} cannot be read: {unread[0]}" if unread else ""
        log_step(
            f"observed {len(looked)} of {len(watched.tables)} tables in {took:.1f} s, {changed} have changed{said}"
        )

    def _take(self, answer: LookAnswer) -> None:
        self.answer, self.interval_s = answer, float(answer.interval_seconds)
        self.watched.follow(answer.tables)


class Watchdog:
    """Ends the process if nothing progresses. It works also where a library holds Python's lock for ever."""

    def __init__(self) -> None:
        self._armed_at = -math.inf

    def progress(self) -> None:
        """There was progress."""
        now = time.monotonic()
        if now - self._armed_at >= 1:
            self._armed_at = now
            faulthandler.dump_traceback_later(STUCK_AFTER_S, exit=True)


def main() -> int:
    """Runs the observer. Returns the exit code, after which the kubelet starts it again."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))  # nothing is written that could be left half done
    watchdog = Watchdog()
    watchdog.progress()
    try:
        config = read_config(os.environ.get(environment.OBSERVER_CONFIG, ""))
        loop = _loop(config, watchdog.progress)
    except (DocumentError, KeyError, UnreadableError) as error:
        log_error(f"the observer cannot start: {error}")
        return 1
    loop.run()
    log_step(f"no table could be read in {BLIND_PASSES} passes: starting again, with the credentials of then")
    return 1


def _loop(config: ObserverConfig, on_progress: Callable[[], None]) -> ObserverLoop:
    files = files_in(config.catalog, load_engine(config.engine), config.hadoop or {})
    if files is None:
        raise UnreadableError(f"only a JVM reads {config.catalog.warehouse}")
    return ObserverLoop(
        Watched(config.catalog, BoundedFiles(files), on_progress),
        OperatorClient(config.url, Path(config.token_file)),
        float(config.interval_seconds),
    )


if __name__ == "__main__":
    sys.exit(main())
