"""Prints each offence as `file:line: what is wrong. What to do.` and exits with 1 if there is one."""

from __future__ import annotations

import sys
from pathlib import Path

from tools.lint.checks import findings


def main(root: Path) -> int:
    """Returns the exit code: 0 without offences, else 1."""
    found = findings(root)
    for finding in found:
        print(finding)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
