"""Words that readers of Kubernetes, Spark and Paimon would have to translate, with the usual ones.

They are the right column of design/language.md. Some of its words are needed in their usual sense too. Of "look" and
"work", phrases are checked in which they can only mean an observation or a run. "Object" and "try" are not checked:
only a reader knows which is meant.
"""

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
"""The usual word for each, everywhere."""

_BEFORE_A_NOUN: Final = (
    "an?|the|its|their|each|every|no|one|two|last|first|next|idle|tenth|for|of|between|without|maintenance and"
)

USUAL_FOR_USERS: Final = {
    r"people|guests?": "table, catalog or run",
    r"hands": "executors, or by hand",
    r"tries": "retries, or attempts",
    r"(?:try|tried|trying) again": "retry, or retried",
    r"looks? again|looked again|rounds?": "reconcile, check or repetition",
    rf"(?:{_BEFORE_A_NOUN}) looks?|looks? for drift|looked at \d+": "observation, or observe",
    r"(?:due|scheduled|urgent|(?<!with )other) work|(?:the|its) work waits": "run, or what is due",
    r"work (?:that|whose) [\w ]+": "run, or what is due",
    r"commits? (?:of|by) others": "foreign commit",
    r"held up|obstacles?": "blocked, or blocker",
    r"lets go|letting go|ways out|mends": "release, override or fix",
    r"noted|seen|folded": "recorded, observed or found",
    r"tells?|telling": "report, show or name",
    r"values? that holds?": "effective",
}
"""The same for what users read: patterns of words that code may use in another sense."""

_EVERYWHERE: Final = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/**/*.md",
    "examples/**/*.yaml",
    "charts/*/values.yaml",
    "charts/*/files/*",
    "charts/*/templates/**/*",
    "operator/**/*.py",
    "spark_apps/**/*.py",
    "tools/**/*.py",
)
_PAGES: Final = ("README.md", "CHANGELOG.md", "docs/**/*.md", "charts/*/README.md")
_FOR_USERS: Final = (
    *_PAGES,
    "examples/**/*.yaml",
    "charts/*/values.yaml",
    "charts/*/files/*",
    "charts/*/templates/NOTES.txt",
    "crds/*.yaml",
    "operator/paimon_operator/api/reasons/*.py",
)
_LONE_CLAIM: Final = {
    r"(?<![\w.*`-])(?<!table )(?<!volume )(?<!s3, hdfs, )claims?(?![\w`:]|\.\w)": "table claim, or volume claim"
}
"""There are two kinds of claims. A catalog has a field of this name, after `s3` and `hdfs`."""


def check_words(root: Path) -> Iterator[Finding]:
    """Reports each unusual word in docs, chart, examples and code, and some more in what users read."""
    yield from _offences(root, _EVERYWHERE, USUAL)
    yield from _offences(root, _FOR_USERS, USUAL_FOR_USERS | _LONE_CLAIM)


def _offences(root: Path, checked: tuple[str, ...], usual: dict[str, str]) -> Iterator[Finding]:
    words = {re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE): remedy for pattern, remedy in usual.items()}
    here = Path(__file__)
    for file in sorted({file for pattern in checked for file in root.glob(pattern) if file.is_file()}):
        text = file.read_text()
        if file.samefile(here) or not any(word.search(text) for word in words):
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            for word, remedy in words.items():
                for found in word.finditer(line):
                    wrong = f"{found.group().lower()!r} is not the usual word"
                    yield Finding(file.relative_to(root).as_posix(), number, wrong, f"Write: {remedy}.")
