"""`kubectl port-forward` for as long as a block lasts."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.kubectl import Kubectl


@contextmanager
def forwarded(kubectl: Kubectl, target: str, port: int) -> Iterator[int]:
    """A free port of the loopback that leads to `port` of the target. Raises RuntimeError with what kubectl says."""
    command = ["kubectl", "--namespace", kubectl.namespace, "port-forward", target, f":{port}"]
    process = subprocess.Popen(
        command, env=dict(kubectl.env), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        said = process.stdout.readline() if process.stdout else ""
        found = re.search(r"127\.0\.0\.1:(\d+)", said)
        if found is None:
            raise RuntimeError(f"kubectl port-forward {target}: {said.strip()}")
        yield int(found[1])
    finally:
        process.terminate()
        process.wait()
