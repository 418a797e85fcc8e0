"""CHANGELOG.md: what a version changes for users, and what they must do for it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from tools.images.builder import CHECKOUT

FILE: Final = CHECKOUT / "CHANGELOG.md"
UPGRADE: Final = "### Upgrade"
"""Each version has this section."""


class MissingNotesError(Exception):
    """CHANGELOG.md does not describe the version. The message says what to add."""


def notes(version: str, file: Path = FILE) -> str:
    """The section of a version without its heading. Raises MissingNotesError."""
    sections = re.split(r"^## ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    found = next((each for each in sections if re.match(rf"{re.escape(version)}(\s|$)", each)), None)
    if found is None:
        raise MissingNotesError(f"{file.name} has no section '## {version}': add one")
    if not found.partition(f"\n{UPGRADE}\n")[2].strip():
        raise MissingNotesError(f"'## {version}' of {file.name} has no notes below '{UPGRADE}': say what it needs")
    return found.partition("\n")[2].strip() + "\n"
