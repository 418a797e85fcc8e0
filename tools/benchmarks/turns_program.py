"""The program of a shared driver with AT_ONCE turns at the same time, for turns.py."""

from __future__ import annotations

import os
import sys
from unittest import mock

from spark_apps.driver import batch

if __name__ == "__main__":
    with mock.patch.object(batch, "turns_at_once", return_value=int(os.environ["AT_ONCE"])):
        sys.exit(batch.main())
