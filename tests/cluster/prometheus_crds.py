"""CRDs of the Prometheus operator, as its own repository has them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Final

from tests.cluster.cache import cached
from tests.cluster.programs import MODULES, Program
from tests.cluster.progress import run

GROUP: Final = "monitoring.coreos.com"
_PINNED: Final = Program(
    "prometheus-operator", "prometheus-operator", "github.com/prometheus-operator/prometheus-operator"
)
"""Never built: only its module's archive is used."""


def crd(plural: str) -> Path:
    """Returns the file with the CRD of `servicemonitors`, say. The first call fetches all from the module proxy."""
    return cached("prometheus-crds", _PINNED.version, _fetch) / f"{GROUP}_{plural}.yaml"


def _fetch(into: Path) -> None:
    environment = {**os.environ, "GOWORK": "off", "GOFLAGS": "-mod=readonly"}
    command = ["go", "-C", str(MODULES / _PINNED.directory), "mod", "download", "-json", _PINNED.module]
    downloaded = json.loads(run(command, env=environment))
    for file in (Path(downloaded["Dir"]) / "example" / "prometheus-operator-crd").glob(f"{GROUP}_*.yaml"):
        shutil.copyfile(file, into / file.name)
