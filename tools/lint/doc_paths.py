"""Paths in CONTRIBUTING.md, whose map is of use only while it is true."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tools.lint.finding import Finding

_PAGE: Final = "CONTRIBUTING.md"
_BASES: Final = (".", "operator/paimon_operator")
"""Folders below the root to which a path may be relative."""
_PATH: Final = re.compile(r"`([A-Za-z0-9_.-]+/[A-Za-z0-9_./-]*)`")
"""A path in backticks with at least one slash. Patterns and placeholders have other characters."""
_ELSEWHERE: Final = ("templates/",)
"""Beginnings of paths that the page names relative to another folder, and says so."""


def check_doc_paths(root: Path) -> Iterator[Finding]:
    """Reports each path in backticks in CONTRIBUTING.md that does not exist."""
    page = root / _PAGE
    if not page.exists():
        return
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        for path in _PATH.findall(line):
            if not path.startswith(_ELSEWHERE) and not any((root / base / path).exists() for base in _BASES):
                yield Finding(_PAGE, number, f"{path} does not exist", "Name the place where the code is now.")
