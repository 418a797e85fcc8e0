"""Line length of the documentation, which ruff does not read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tools.lint.finding import Finding

LONGEST: Final = 120
"""Characters in a line, as design/language.md and ruff's `line-length` have it."""

_CHECKED: Final = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/**/*.md",
    "examples/**/*.yaml",
    "charts/*/values.yaml",
    "charts/*/README.md",
    "charts/*/templates/NOTES.txt",
)
"""Glob patterns below the root. Data is exempt: docs/faults.jsonl holds one record per line."""


def check_doc_lines(root: Path) -> Iterator[Finding]:
    """Reports each line of documentation with more than 120 characters."""
    for file in _documents(root):
        for number, line in enumerate(file.read_text().splitlines(), start=1):
            if len(line) > LONGEST:
                yield Finding(
                    file.relative_to(root).as_posix(),
                    number,
                    f"the line has {len(line)} characters, more than {LONGEST}",
                    "Wrap it, or shorten the table's cells. Change the generator of a generated page.",
                )


def _documents(root: Path) -> list[Path]:
    return sorted({file for pattern in _CHECKED for file in root.glob(pattern)})
