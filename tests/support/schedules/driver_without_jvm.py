"""The first of a driver's two programs, which needs no JVM, on the clock of a schedule."""

from __future__ import annotations

import json
from typing import Any
from unittest import mock

from spark_apps.driver import without_jvm as program
from spark_apps.driver.dispatch import read_job
from spark_apps.operations import expire_partitions, mark_partitions_done, remove_orphan_files
from spark_apps.orphans.times import Moment
from tests.support.schedules.dying_storage import DyingStorage


def without_jvm(job: dict[str, Any], now_ms: int, dies_at: int | None) -> tuple[dict[str, Any], int] | None:
    """The result of the job and the exit code; None: it needs a JVM. Raises Died at the change of files of a number."""
    moment, storage = Moment(now_ms, now_ms), DyingStorage(dies_at)
    with (
        mock.patch.object(remove_orphan_files, "moment_of", return_value=moment),
        mock.patch.object(remove_orphan_files, "storage_in", return_value=storage),
        mock.patch.object(expire_partitions, "now", return_value=now_ms),
        mock.patch.object(mark_partitions_done, "now", return_value=now_ms),
    ):
        return program.perform(read_job(json.dumps(job)))
