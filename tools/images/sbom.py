"""What an image consists of, as a CycloneDX document: `python3 sbom.py NAME VERSION DIRECTORY...`, inside the image.

Lists the Debian packages of the system, and the Python packages and jars below the directories, each jar by its
SHA-256. The same image gives the same document. It runs in the image while that is built, so it imports nothing but
Python's library.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from email.parser import HeaderParser
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

Component = dict[str, Any]
SPEC_VERSION: Final = "1.5"
DPKG: Final = Path("/var/lib/dpkg/status")


def document(name: str, version: str, components: Iterable[Component]) -> dict[str, Any]:
    """The document of an image, sorted by the components' addresses. What is there twice is listed once."""
    unique = {each["bom-ref"]: each for each in components}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": SPEC_VERSION,
        "version": 1,
        "metadata": {"component": {"type": "container", "bom-ref": name, "name": name, "version": version}},
        "components": [unique[ref] for ref in sorted(unique)],
    }


def debian(status: Path = DPKG) -> Iterator[Component]:
    """The installed packages of the system; none where it is not Debian."""
    if not status.exists():
        return
    for block in status.read_text(encoding="utf-8").split("\n\n"):
        fields = HeaderParser().parsestr(block)
        if "installed" in str(fields["Status"]).split():
            query = f"?arch={fields['Architecture']}"
            yield _component(fields["Package"], fields["Version"], f"pkg:deb/debian/{{}}@{{}}{query}")


def python_packages(directory: Path) -> Iterator[Component]:
    """Those whose metadata is below the directory."""
    for metadata in directory.glob("**/*.dist-info/METADATA"):
        fields = HeaderParser().parsestr(metadata.read_text(encoding="utf-8"))
        name = re.sub(r"[-_.]+", "-", fields["Name"]).lower()
        yield _component(name, fields["Version"], "pkg:pypi/{}@{}")


def jars(directory: Path) -> Iterator[Component]:
    """Each jar below the directory, by its Maven coordinates where it says one pair of them, else by its file name."""
    for path in directory.glob("**/*.jar"):
        coordinates = _coordinates(path)
        if coordinates is None:
            stem, _, version = path.stem.rpartition("-")
            found = _component(stem or path.stem, version if stem else "", "pkg:generic/{}@{}")
        else:
            group, name, version = coordinates
            found = _component(name, version, f"pkg:maven/{quote(group)}/{{}}@{{}}") | {"group": group}
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        yield found | {"hashes": [{"alg": "SHA-256", "content": digest}]}


def _coordinates(path: Path) -> tuple[str, str, str] | None:
    """A jar that others were packed into names theirs as well."""
    with zipfile.ZipFile(path) as jar:
        names = [each for each in jar.namelist() if each.endswith("/pom.properties")]
        if len(names) != 1:
            return None
        lines = jar.read(names[0]).decode("utf-8").splitlines()
    said = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    return (said["groupId"].strip(), said["artifactId"].strip(), said["version"].strip())


def _component(name: str, version: str, address: str) -> Component:
    purl = address.format(quote(name), quote(version, safe=".+-~"))
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}


def main(arguments: Sequence[str]) -> None:
    """Prints the document."""
    name, version, *directories = arguments
    found = [*debian()]
    for directory in map(Path, directories):
        found += [*python_packages(directory), *jars(directory)]
    json.dump(document(name, version, found), sys.stdout, indent=1)


if __name__ == "__main__":
    main(sys.argv[1:])
