"""Names of operations outside the package of operations.

The types come from the operations' own files: the text of `type=` in each `OperationSpec(...)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tools.lint.finding import Finding

_PACKAGE: Final = "operator/paimon_operator"
_OPERATIONS: Final = f"{_PACKAGE}/core/operations"
_REMEDY: Final = "State what is particular in its OperationSpec, and ask the registry for it."


def check_operations(root: Path) -> Iterator[Finding]:
    """Reports each type of an operation, and each import of an operation's module, outside `core/operations`."""
    own = {file: ast.parse(file.read_text()) for file in sorted((root / _OPERATIONS).rglob("*.py"))}
    types = {file: type_ for file, tree in own.items() if (type_ := _type_of(tree)) is not None}
    modules = {_module(root, file) for file in types}
    for file in sorted((root / _PACKAGE).rglob("*.py")):
        if file not in own:
            yield from _offences(file.relative_to(root).as_posix(), file, frozenset(types.values()), modules)


def _offences(place: str, file: Path, types: frozenset[str], modules: set[str]) -> Iterator[Finding]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Constant) and node.value in types:
            yield Finding(place, node.lineno, f"names the operation {node.value}", _REMEDY)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for imported in modules.intersection(_imports(node)):
                yield Finding(place, node.lineno, f"imports the operation {imported.rpartition('.')[2]}", _REMEDY)


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (each.name for each in node.names)
    elif node.module is not None:
        yield node.module
        yield from (f"{node.module}.{each.name}" for each in node.names)


def _module(root: Path, file: Path) -> str:
    return ".".join(file.relative_to(root / "operator").with_suffix("").parts)


def _type_of(tree: ast.Module) -> str | None:
    """The type of the operation that a module defines, None when it defines none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "OperationSpec":
            for keyword in node.keywords:
                if keyword.arg == "type" and isinstance(keyword.value, ast.Constant):
                    return str(keyword.value.value)
    return None
