"""The operator, whose tasks can be counted: `python -m tools.benchmarks.fleet.counted_operator FILE`.

At SIGUSR1 it writes the number of its asyncio tasks to FILE. All else is the operator: its settings are in variables.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from paimon_operator.__main__ import main


def count_tasks_at_a_signal(file: Path) -> None:
    """The signal arrives in the thread of the loop."""

    def write(_number: int, _frame: object) -> None:
        file.write_text(str(len(asyncio.all_tasks())), encoding="utf-8")

    signal.signal(signal.SIGUSR1, write)


if __name__ == "__main__":
    count_tasks_at_a_signal(Path(sys.argv.pop()))
    sys.exit(main())
