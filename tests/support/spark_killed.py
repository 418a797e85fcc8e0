"""spark_apps.driver.main, whose driver is killed by SIGKILL at the moment named by KILL_AT; used by spark_process."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from spark_apps.driver import main
from spark_apps.loading.ledger import Ledger


def die() -> None:
    """JVM and Python are one process group, started for this test only."""
    os.killpg(os.getpgrp(), signal.SIGKILL)


def before(method: Callable[..., Any]) -> Callable[..., Any]:
    def dying(*args: Any, **kwargs: Any) -> Any:
        die()
        return method(*args, **kwargs)

    return dying


def after(method: Callable[..., Any]) -> Callable[..., Any]:
    def dying(*args: Any, **kwargs: Any) -> Any:
        method(*args, **kwargs)
        die()

    return dying


MOMENTS = {
    "before the ledger": ("begin", before),
    "after the ledger": ("begin", after),
    "after the commit": ("mark_committed", before),
    "after the mark": ("mark_committed", after),
}

name, how = MOMENTS[os.environ["KILL_AT"]]
setattr(Ledger, name, how(getattr(Ledger, name)))
sys.exit(main.main(sys.argv[1:]))
