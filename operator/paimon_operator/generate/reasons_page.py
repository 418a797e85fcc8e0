"""The page of all reasons, made from the enum. `python -m paimon_operator.generate.reasons_page FILE` writes it."""

from __future__ import annotations

import sys
from pathlib import Path

from paimon_operator.api.reasons import Reason

_HEAD = """# Reasons

The one word behind a condition, a decision or an attempt, what it means and what to do.
Generated from `operator/paimon_operator/api/reasons.py` by `make generate`; do not edit.

| reason | what it means | what to do |
|---|---|---|
"""


def page() -> str:
    """The page as Markdown, one line per reason, in alphabetical order."""
    rows = (f"| `{reason.value}` | {reason.means} | {reason.remedy} |\n" for reason in sorted(Reason))
    return _HEAD + "".join(rows)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page())
