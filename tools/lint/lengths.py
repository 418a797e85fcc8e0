"""Lengths of files and functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tools.lint.finding import Finding

LONGEST_FILE: Final = 400
"""Lines of a Python file."""
LONGEST_FUNCTION: Final = 25
"""Lines of a function from its `def` to its end, without its docstring."""
_FILES: Final = ("operator", "spark_apps", "tools", "tests")
_FUNCTIONS: Final = ("operator", "spark_apps", "tools")
"""Folders below the root. The tests tell a story in each function, so only their files have a limit."""


def check_file_lengths(root: Path) -> Iterator[Finding]:
    """Reports each Python file with more than 400 lines."""
    for file in _python_files(root, _FILES):
        lines = len(file.read_text().splitlines())
        if lines > LONGEST_FILE:
            wrong = f"the file has {lines} lines, more than {LONGEST_FILE}"
            yield Finding(file.relative_to(root).as_posix(), lines, wrong, "Split it where its subject changes.")


def check_function_lengths(root: Path) -> Iterator[Finding]:
    """Reports each function with more than 25 lines, of which its docstring counts none."""
    for file in _python_files(root, _FUNCTIONS):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _length(node) > LONGEST_FUNCTION:
                wrong = f"{node.name} has {_length(node)} lines, more than {LONGEST_FUNCTION}"
                place = file.relative_to(root).as_posix()
                yield Finding(place, node.lineno, wrong, "Give a part of it a name of its own.")


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = node.body[0]
    docstring = _lines(first) if ast.get_docstring(node) is not None else 0
    return _lines(node) - docstring


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _python_files(root: Path, folders: tuple[str, ...]) -> list[Path]:
    return sorted(file for folder in folders for file in (root / folder).rglob("*.py"))
