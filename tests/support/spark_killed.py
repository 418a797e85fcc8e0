"""spark_apps.driver.main, killed by SIGKILL at the moment in KILL_AT; started by spark_process."""

from __future__ import annotations

import os
import signal
import sys

from spark_apps.driver import main
from tests.support.kill_points import dying


def kill() -> None:
    """Kills JVM and Python, which are one process group of this test."""
    os.killpg(os.getpgrp(), signal.SIGKILL)


with dying(os.environ["KILL_AT"], kill):
    sys.exit(main.main(sys.argv[1:]))
