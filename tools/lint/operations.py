"""Names of operations outside the packages of operations, of the operator and of the Spark side.

The types come from the operations' own files: the text of `type=` in each `OperationSpec(...)`. A value of an enum of
the API may be the same word, since it names a choice of users.
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
_SPARK: Final = "spark_apps"
_SPARK_OPERATIONS: Final = f"{_SPARK}/operations"
_SPARK_REMEDY: Final = "State what is particular in the operation's module, and ask driver/dispatch.py for it."


def check_operations(root: Path) -> Iterator[Finding]:
    """Reports each type of an operation, and each import of an operation's module, outside the operations' packages."""
    own = {file: ast.parse(file.read_text()) for file in sorted((root / _OPERATIONS).rglob("*.py"))}
    types = {file: type_ for file, tree in own.items() if (type_ := _type_of(tree)) is not None}
    words = frozenset(types.values())
    modules = {_module(root / "operator", file) for file in types}
    for file in sorted((root / _PACKAGE).rglob("*.py")):
        if file not in own:
            yield from _offences(root, file, words, modules, _REMEDY)
    spark = set((root / _SPARK_OPERATIONS).glob("*.py"))
    modules = {_module(root, file) for file in spark if file.stem != "__init__"}
    for file in sorted(set((root / _SPARK).rglob("*.py")) - spark):
        yield from _offences(root, file, words, modules, _SPARK_REMEDY)


def _offences(root: Path, file: Path, types: frozenset[str], modules: set[str], remedy: str) -> Iterator[Finding]:
    place = file.relative_to(root).as_posix()
    tree = ast.parse(file.read_text())
    choices = set(_choices(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in types and node not in choices:
            yield Finding(place, node.lineno, f"names the operation {node.value}", remedy)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for imported in modules.intersection(_imports(node)):
                yield Finding(place, node.lineno, f"imports the operation {imported.rpartition('.')[2]}", remedy)


def _choices(tree: ast.Module) -> Iterator[ast.expr]:
    """The values of the enums that a module defines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and any(isinstance(b, ast.Name) and b.id == "StrEnum" for b in node.bases):
            yield from (each.value for each in node.body if isinstance(each, ast.Assign))


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (each.name for each in node.names)
    elif node.module is not None:
        yield node.module
        yield from (f"{node.module}.{each.name}" for each in node.names)


def _module(base: Path, file: Path) -> str:
    return ".".join(file.relative_to(base).with_suffix("").parts)


def _type_of(tree: ast.Module) -> str | None:
    """The type of the operation that a module defines, None when it defines none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "OperationSpec":
            for keyword in node.keywords:
                if keyword.arg == "type" and isinstance(keyword.value, ast.Constant):
                    return str(keyword.value.value)
    return None
