"""The commands and queries that a page of docs/ tells its readers to run."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_ROOT: Final = Path(__file__).parents[2]
_FENCE: Final = "```"
_QUESTION: Final = re.compile(r"^\*\*(.+?\?)\*\*", flags=re.MULTILINE)
_BLOCK: Final = re.compile(r"^( *)```(\w+)\n(.*?)^ *```$", flags=re.MULTILINE | re.DOTALL)
_FILE: Final = re.compile(r"# ([a-z0-9-]+\.yaml)\b")
"""First line of a block of YAML that readers put into a file of this name."""


@dataclass(frozen=True)
class Answer:
    """A block below a question: a query for Prometheus (`promql`), or commands (`console`)."""

    question: str
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.question} {self.text.split()[0]}"


def commands_of(page: str, heading: str) -> str:
    """The first block of commands below a heading. Raises ValueError for a page without it."""
    text = (_ROOT / page).read_text(encoding="utf-8")
    _, found, below = text.partition(f"\n{heading}\n")
    _, began, block = below.partition(f"{_FENCE}console\n")
    commands, ended, _ = block.partition(_FENCE)
    if not (found and began and ended):
        raise ValueError(f"{page} has no block of commands below {heading!r}")
    return commands


def section_of(page: str, heading: str) -> str:
    """The text below a heading, up to the next one of its level or the end. Raises ValueError for a page without it."""
    _, found, below = (_ROOT / page).read_text(encoding="utf-8").partition(f"\n{heading}\n")
    if not found:
        raise ValueError(f"{page} has no heading {heading!r}")
    return below.partition(f"\n{heading.split(maxsplit=1)[0]} ")[0]


def blocks_of(page: str, language: str) -> list[str]:
    """All blocks of a language of a page. Raises ValueError for a page without one."""
    found = [text for each, text in _blocks((_ROOT / page).read_text(encoding="utf-8")) if each == language]
    if not found:
        raise ValueError(f"{page} has no block of {language}")
    return found


def blocks_below(page: str, heading: str, language: str) -> list[str]:
    """All blocks of a language below a heading."""
    return [text for found, text in _blocks(section_of(page, heading)) if found == language]


def answers_of(page: str, heading: str) -> list[Answer]:
    """The blocks below the questions of a section. A question is bold, at the start of a line."""
    _, *parts = _QUESTION.split(section_of(page, heading))
    return [
        Answer(question, language, text)
        for question, below in zip(parts[::2], parts[1::2], strict=True)
        for language, text in _blocks(below)
    ]


def _blocks(text: str) -> list[tuple[str, str]]:
    """Language and text of each block, without indentation."""
    return [(language, textwrap.dedent(block)) for _, language, block in _BLOCK.findall(text)]


def replaced(text: str, by: Mapping[str, str]) -> str:
    """The text with each key of `by` replaced wherever it is. Raises ValueError for a key that it does not have."""
    missing = [old for old in by if old not in text]
    if missing:
        raise ValueError(f"the text to replace is not there: {missing}")
    for old, new in by.items():
        text = text.replace(old, new)
    return text


@dataclass(frozen=True)
class Steps:
    """What the readers of a page do: files that they write, and commands that they run beside them."""

    files: Mapping[str, str]
    """Text of each file by its name: the blocks of YAML whose first line is a comment with the name."""
    commands: str
    """All blocks of commands, in their order. One that fails ends them."""


def steps_of(page: str, by: Mapping[str, str], *, heading: str = "") -> Steps:
    """The steps of a page, or of a section, with what is replaced in it (`replaced`)."""
    text = section_of(page, heading) if heading else (_ROOT / page).read_text(encoding="utf-8")
    blocks = _blocks(replaced(text, by))
    named = {found[1]: block for language, block in blocks if language == "yaml" and (found := _FILE.match(block))}
    return Steps(named, "".join(block for language, block in blocks if language == "console"))
