"""The program of a shared driver in which the provisioning of one table waits until all others have ended."""

from __future__ import annotations

import os
import sys
import threading

from paimon_contract.job import Job
from paimon_contract.result import Outcome
from paimon_contract.turns import job_texts
from spark_apps.catalog.session import Session
from spark_apps.driver import batch
from spark_apps.operations import provision

WAIT_S = 120
_run, _open, _close = provision.run, Session.open, Session.close
_first_is_open, _others_ended = threading.Event(), threading.Semaphore(0)
_others = len(list(job_texts(os.environ))) - 1
_first: list[Session] = []
_choosing = threading.Lock()


def _opened(self: Session) -> None:
    with _choosing:
        if not _first:
            _first.append(self)
    if self not in _first:
        assert _first_is_open.wait(WAIT_S)
    _open(self)
    _first_is_open.set()


def _provisioned(job: Job, session: Session) -> Outcome:
    if session in _first:
        for _ in range(_others):
            assert _others_ended.acquire(timeout=WAIT_S)
    return _run(job, session)


def _closed(self: Session) -> None:
    _close(self)
    if self not in _first:
        _others_ended.release()


if __name__ == "__main__":
    Session.open, Session.close, provision.run = _opened, _closed, _provisioned  # type: ignore[method-assign]
    sys.exit(batch.main())
