"""Names of classes within a package."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tools.lint.finding import Finding

_PACKAGES: Final = (
    "operator/paimon_operator",
    "operator/paimon_engines",
    "operator/paimon_contract",
    "operator/paimon_schema",
    "spark_apps",
)
"""Packages below the root. A name may occur once in each of them. A package that does not exist has no names."""


def check_class_names(root: Path) -> Iterator[Finding]:
    """Reports each class at module level whose name an earlier module of the same package already defines."""
    for package in _PACKAGES:
        first: dict[str, str] = {}
        for file in sorted((root / package).rglob("*.py")):
            place = file.relative_to(root).as_posix()
            for definition in _classes(file):
                earlier = first.setdefault(definition.name, f"{place}:{definition.lineno}")
                if earlier != f"{place}:{definition.lineno}":
                    yield Finding(
                        place,
                        definition.lineno,
                        f"class {definition.name} is also defined at {earlier}",
                        "Rename one of the two: two classes of a package never share a name.",
                    )


def _classes(file: Path) -> Iterator[ast.ClassDef]:
    return (node for node in ast.parse(file.read_text()).body if isinstance(node, ast.ClassDef))
