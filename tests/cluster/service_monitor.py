"""The CRD of a ServiceMonitor, as the Prometheus operator's own repository has it."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Final

from tests.cluster.cache import cached
from tests.cluster.programs import MODULES
from tests.cluster.progress import run

_PINS: Final = MODULES / "prometheus-operator"
_MODULE: Final = "github.com/prometheus-operator/prometheus-operator"
_FILE: Final = "monitoring.coreos.com_servicemonitors.yaml"


def crd() -> Path:
    """The file with it; fetched from the module proxy at the first call."""
    found = re.search(rf"^require {re.escape(_MODULE)} (v\S+)$", (_PINS / "go.mod").read_text(), re.MULTILINE)
    if not found:
        raise LookupError(f"{_PINS}/go.mod does not require {_MODULE}")
    return cached("service-monitor", found.group(1), _fetch) / _FILE


def _fetch(into: Path) -> None:
    environment = {**os.environ, "GOWORK": "off", "GOFLAGS": "-mod=readonly"}
    told = json.loads(run(["go", "-C", str(_PINS), "mod", "download", "-json", _MODULE], env=environment))
    shutil.copyfile(Path(told["Dir"]) / "example" / "prometheus-operator-crd" / _FILE, into / _FILE)
