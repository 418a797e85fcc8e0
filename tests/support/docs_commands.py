"""The commands that a page of docs/ tells its readers to run."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parents[2]
_FENCE: Final = "```"


def commands_of(page: str, heading: str) -> str:
    """The first block of commands below a heading. Raises ValueError for a page without it."""
    text = (_ROOT / page).read_text(encoding="utf-8")
    _, found, below = text.partition(f"\n{heading}\n")
    _, began, block = below.partition(f"{_FENCE}console\n")
    commands, ended, _ = block.partition(_FENCE)
    if not (found and began and ended):
        raise ValueError(f"{page} has no block of commands below {heading!r}")
    return commands
