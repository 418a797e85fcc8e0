"""The metadata of this project's own package, for an image that has its sources: `metadata.py PYPROJECT DIRECTORY`.

`importlib.metadata` finds it below the directory, as if pip had installed the package. It imports nothing but Python's
library, since it runs in the image while that is built.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path


def write(pyproject: Path, directory: Path) -> None:
    """Writes name and version of the project."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    name, version = project["name"], project["version"]
    info = directory / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8")


def main(arguments: Sequence[str]) -> None:
    """Writes the metadata."""
    pyproject, directory = map(Path, arguments)
    write(pyproject, directory)


if __name__ == "__main__":
    main(sys.argv[1:])
