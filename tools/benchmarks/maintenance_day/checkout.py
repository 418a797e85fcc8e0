"""The files of the record, and the checkout from which a figure comes."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

LINES, PAGE = Path("docs/maintenance-day.jsonl"), Path("docs/maintenance-day.md")
PLAYED: Final = Path("docs/maintenance-day-played.jsonl")


def stamp_of_checkout() -> dict[str, str]:
    """Date and commit; with -dirty if files in the checkout had been changed, except the record itself."""
    record = (f":!{file}" for file in (LINES, PLAYED, PAGE))
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", *record)
    commit = _git("rev-parse", "--short=7", "HEAD") + ("-dirty" if changed else "")
    return {"date": f"{datetime.now(UTC):%Y-%m-%d}", "commit": commit}


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()
