"""spark_apps.driver.main, whose driver is killed by SIGKILL at the moment named by KILL_AT; used by spark_process."""

from __future__ import annotations

import os
import signal
import sys

from spark_apps.driver import main
from tests.support.kill_points import dying


def kill() -> None:
    """JVM and Python are one process group, started for this test only."""
    os.killpg(os.getpgrp(), signal.SIGKILL)


with dying(os.environ["KILL_AT"], kill):
    sys.exit(main.main(sys.argv[1:]))
