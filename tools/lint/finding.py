"""What a check reports."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Finding:
    """One offence: its file relative to the root, its line counted from 1, what is wrong, and what to do."""

    file: str
    line: int
    wrong: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.wrong}. {self.remedy}"
