"""The driver's program with a pause of PATIENCE_S seconds after the start of Spark: `spark_pause.py JOB.json`.

A login or token with a shorter lifetime must be renewed before the operation starts.
"""

from __future__ import annotations

import os
import sys
import time
from unittest import mock

from spark_apps.catalog import session
from spark_apps.driver import main
from spark_apps.progress import SPARK_READY, log_step


def log_and_wait(step: str) -> None:
    log_step(step)
    jvm, until = os.getppid(), time.monotonic() + float(os.environ["PATIENCE_S"])
    while step == SPARK_READY and time.monotonic() < until:
        time.sleep(0.2)  # the pause is the point
        if os.getppid() != jvm:
            os._exit(1)  # without a container nothing else ends this process


with mock.patch.object(session, "log_step", log_and_wait):
    sys.exit(main.main(sys.argv[1:]))
