"""Words that readers of Kubernetes, Spark and Paimon would have to translate, with the usual ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tools.lint.finding import Finding

USUAL: Final = {
    "anew": "again, or recreate",
    "at work": "active",
    "let go": "release",
    "mend": "fix",
    "mended": "fixed",
    "stranger": "another user, another object or a foreign commit",
    "told": "reported, shown or named",
    "upkeep": "maintenance",
    "way out": "override",
    "whoever": "the noun that it stands for",
}
"""The usual word for each, as design/language.md has it."""

_CHECKED: Final = (
    "README.md",
    "CONTRIBUTING.md",
    "docs/**/*.md",
    "examples/**/*.yaml",
    "charts/*/values.yaml",
    "charts/*/templates/**/*",
    "operator/**/*.py",
    "spark_apps/**/*.py",
    "tools/**/*.py",
)
_WORD: Final = re.compile(rf"\b({'|'.join(USUAL)})\b", re.IGNORECASE)


def check_words(root: Path) -> Iterator[Finding]:
    """Reports each unusual word in docs, chart, examples and code."""
    here = Path(__file__)
    for file in sorted({file for pattern in _CHECKED for file in root.glob(pattern) if file.is_file()}):
        if file.samefile(here):
            continue
        for number, line in enumerate(file.read_text().splitlines(), start=1):
            for found in _WORD.finditer(line):
                word = found.group().lower()
                place = file.relative_to(root).as_posix()
                yield Finding(place, number, f"{word!r} is not the usual word", f"Write: {USUAL[word]}.")
