"""`python -m paimon_operator.export`; see `command`."""

from __future__ import annotations

import sys

from paimon_operator.export.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], sys.stdin, sys.stdout, sys.stderr))
