"""A driver whose run is longer than its Kerberos ticket: `spark_patient.py JOB.json`, with PATIENCE_S.

Looks for the table every second, over a new connection each time, and ends with 0 once PATIENCE_S have passed.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from spark_apps.contract import read_job
from spark_apps.session import Session

session = Session(read_job(Path(sys.argv[1]).read_text(encoding="utf-8")))
session.open()
session.file_io(session.path(session.job.catalog.warehouse))  # one more file system than the catalog's
looks, until = 0, time.monotonic() + float(os.environ["PATIENCE_S"])
while time.monotonic() < until:
    session.find_table()
    looks += 1
    time.sleep(1)
sys.stdout.write(f"looked {looks} times\n")
