"""Runs commands of a page of docs/ with the kubectl and helm of the tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Final

from tests.cluster.programs import KUBECTL

_TIMEOUT_S: Final = 120.0


def run_commands(kubeconfig: Path, commands: str, *, cwd: Path | None = None) -> str:
    """What the commands print. Raises AssertionError if one of them fails. `cwd` has the files that they name."""
    environment = {**os.environ, "KUBECONFIG": str(kubeconfig)}
    environment["PATH"] = f"{Path(KUBECTL.path).parent}:{environment['PATH']}"
    script = ["bash", "-euo", "pipefail", "-c", commands]
    done = subprocess.run(
        script, env=environment, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False, cwd=cwd
    )
    assert done.returncode == 0, f"{commands}\n{done.stdout}{done.stderr}"
    return done.stdout
