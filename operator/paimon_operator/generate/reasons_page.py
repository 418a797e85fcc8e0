"""The page of all reasons, generated from the enum: `python -m paimon_operator.generate.reasons_page FILE`."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Final

from paimon_operator.api.reasons import Reason

_LINE_LENGTH: Final = 120
"""Characters in a line of the page."""

_HEAD: Final = """# Reasons

A reason is the one word that explains a condition, a decision or an attempt.
Each entry states what the reason means and what to do.
`make generate` writes this page from `operator/paimon_operator/api/reasons/`; do not edit it.
"""


def page() -> str:
    """The page as Markdown, one section per reason, in alphabetical order."""
    return "\n".join([_HEAD, *(_section(reason) for reason in sorted(Reason))])


def _section(reason: Reason) -> str:
    return f"## {reason.value}\n\n{_wrapped(reason.means)}\n\n{_wrapped(f'**What to do:** {reason.remedy}')}\n"


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _LINE_LENGTH, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page())
