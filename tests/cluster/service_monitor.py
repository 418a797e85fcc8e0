"""The CRD of a ServiceMonitor, as the Prometheus operator's own repository has it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Final

from tests.cluster.cache import cached
from tests.cluster.programs import MODULES, Program
from tests.cluster.progress import run

_PINNED: Final = Program(
    "prometheus-operator", "prometheus-operator", "github.com/prometheus-operator/prometheus-operator"
)
"""Never built: only its module's archive is used."""
_FILE: Final = "monitoring.coreos.com_servicemonitors.yaml"


def crd() -> Path:
    """Returns the file with the CRD, fetched from the module proxy at the first call."""
    return cached("service-monitor", _PINNED.version, _fetch) / _FILE


def _fetch(into: Path) -> None:
    environment = {**os.environ, "GOWORK": "off", "GOFLAGS": "-mod=readonly"}
    command = ["go", "-C", str(MODULES / _PINNED.directory), "mod", "download", "-json", _PINNED.module]
    downloaded = json.loads(run(command, env=environment))
    shutil.copyfile(Path(downloaded["Dir"]) / "example" / "prometheus-operator-crd" / _FILE, into / _FILE)
