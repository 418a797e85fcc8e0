"""Mounts below the cluster's directories."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.cluster.processes import wait_until
from tests.cluster.progress import run


def mounted_below(*directories: Path) -> list[str]:
    """Returns the mount points at or below the directories, the deepest first."""
    text = Path("/proc/self/mountinfo").read_text()
    points = [_unescape(line.split(" ")[4]) for line in text.splitlines()]
    roots = tuple(str(directory) for directory in directories)
    inside = [point for point in points if any(point == root or point.startswith(root + "/") for root in roots)]
    return sorted(inside, key=len, reverse=True)


def unmount_below(*directories: Path) -> None:
    """Unmounts everything below the directories; a mount that is busy for 5 s is detached lazily."""
    for point in mounted_below(*directories):
        if not wait_until(lambda: _unmount(point), timeout=5):  # noqa: B023
            run(["umount", "--lazy", point])


def _unmount(point: str) -> bool:
    return subprocess.run(["umount", point], capture_output=True, check=False).returncode == 0


def _unescape(text: str) -> str:
    """mountinfo writes blanks and backslashes as three octal digits."""
    return re.sub(r"\\(\d{3})", lambda match: chr(int(match.group(1), 8)), text)
