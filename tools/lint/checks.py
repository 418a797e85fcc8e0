"""The list of all checks. A check is one function in a file of its own; it reads files and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from tools.lint.class_names import check_class_names
from tools.lint.doc_lines import check_doc_lines
from tools.lint.doc_links import check_doc_links
from tools.lint.doc_paths import check_doc_paths
from tools.lint.finding import Finding
from tools.lint.lengths import check_file_lengths, check_function_lengths
from tools.lint.operations import check_operations
from tools.lint.words import check_words

Check = Callable[[Path], Iterator[Finding]]
"""Takes the root of a checkout and yields its offences."""

CHECKS: Final[tuple[Check, ...]] = (
    check_class_names,
    check_doc_lines,
    check_doc_links,
    check_doc_paths,
    check_file_lengths,
    check_function_lengths,
    check_operations,
    check_words,
)


def findings(root: Path) -> list[Finding]:
    """The offences that all checks find below `root`, sorted by file and line."""
    return sorted(finding for check in CHECKS for finding in check(root))
