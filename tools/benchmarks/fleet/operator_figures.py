"""What one operator process has used and done: its own metrics, and what the kernel counts."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.apiserver.operator_process import OperatorProcess

_LABEL: Final = re.compile(r'(\w+)="([^"]*)"')
_REQUESTS: Final = "paimon_operator_api_request_seconds_count"
_RECONCILES: Final = "paimon_operator_reconcile_seconds_count"
_TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")
_OF_LEASES: Final = frozenset({"Lease"})


@dataclass(frozen=True)
class Figures:
    """At one moment, or what was used between two."""

    cpu_s: float
    requests: float
    """All but those for Leases."""
    tables_reconciled: float
    reads: float = 0
    """Of the requests, those for one object. A run's timers send them, so they grow with the time that it takes."""

    def since(self, before: Figures) -> Figures:
        """What was used since `before`."""
        return Figures(
            self.cpu_s - before.cpu_s,
            self.requests - before.requests,
            self.tables_reconciled - before.tables_reconciled,
            self.reads - before.reads,
        )


def figures(operator: OperatorProcess) -> Figures:
    """The figures of a process that has started."""
    samples = operator.metrics()
    requests = {name: value for name, value in samples.items() if name.startswith(_REQUESTS) and not _is_lease(name)}
    reads = [value for name, value in requests.items() if _labels(name)["verb"] == "get"]
    tables = [
        value
        for name, value in samples.items()
        if name.startswith(_RECONCILES) and _labels(name)["kind"] == "PaimonTable"
    ]
    return Figures(cpu_s(operator.process.pid), sum(requests.values()), sum(tables), sum(reads))


def is_idle(operator: OperatorProcess) -> bool:
    """Whether no object waits for a worker."""
    return operator.metrics().get("paimon_operator_queue_depth") == 0


def peak_mib(pid: int) -> float:
    """The most memory that the process has had at any time."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def cpu_s(pid: int) -> float:
    """Seconds of CPU that the process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


def _is_lease(name: str) -> bool:
    return _labels(name)["kind"] in _OF_LEASES


def _labels(name: str) -> dict[str, str]:
    return dict(_LABEL.findall(name))
