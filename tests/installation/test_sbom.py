"""The list of what an image consists of is a valid CycloneDX document, and names everything below its directories."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from cyclonedx.schema import _res as schemas
from packageurl import PackageURL
from referencing import Registry, Resource

from tools.images import sbom

STATUS = """\
Package: libc6
Status: install ok installed
Architecture: arm64
Version: 2.36-9+deb12u10
Description: GNU C Library
 with a second line

Package: gone
Status: deinstall ok config-files
Architecture: all
Version: 1
"""


def jar(path: Path, *poms: Mapping[str, str]) -> None:
    """A jar that names these coordinates."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as file:
        for number, pom in enumerate(poms):
            text = "#made by Maven\n" + "".join(f"{key}={value}\n" for key, value in pom.items())
            file.writestr(f"META-INF/maven/g/{number}/pom.properties", text)


@pytest.fixture
def listed(tmp_path: Path) -> dict[str, Any]:
    """The document of a small image."""
    (tmp_path / "status").write_text(STATUS)
    info = tmp_path / "python" / "Typing_Extensions-4.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: Typing_Extensions\nVersion: 4.0+local\n\nVersion: of the text\n")
    paimon = {"groupId": "org.apache.paimon", "artifactId": "paimon-s3", "version": "1.4.2"}
    jar(tmp_path / "jars" / "paimon-s3-1.4.2.jar", paimon)
    jar(tmp_path / "jars" / "packed_2.12-7.jar", paimon, paimon)
    jar(tmp_path / "jars" / "copy" / "paimon-s3-1.4.2.jar", paimon)
    found = [*sbom.debian(tmp_path / "status"), *sbom.python_packages(tmp_path), *sbom.jars(tmp_path)]
    return sbom.document("paimon-spark", "2.3.4", found)


def test_everything_is_named_once_by_its_address(listed: dict[str, Any]) -> None:
    assert [each["purl"] for each in listed["components"]] == [
        "pkg:deb/debian/libc6@2.36-9+deb12u10?arch=arm64",
        "pkg:generic/packed_2.12@7",
        "pkg:maven/org.apache.paimon/paimon-s3@1.4.2",
        "pkg:pypi/typing-extensions@4.0+local",
    ]
    assert all(len(each["hashes"][0]["content"]) == 64 for each in listed["components"][1:3])


def test_addresses_are_those_of_the_standard(listed: dict[str, Any]) -> None:
    for component in listed["components"]:
        parsed = PackageURL.from_string(component["purl"])
        assert (parsed.name, parsed.version) == (component["name"], component["version"])


def test_the_document_is_valid(listed: dict[str, Any]) -> None:
    directory = Path(schemas.__path__[0])
    names = ("bom-1.5", "spdx", "jsf-0.82")
    loaded = {name: json.loads((directory / f"{name}.SNAPSHOT.schema.json").read_text()) for name in names}
    registry = Registry().with_resources((each["$id"], Resource.from_contents(each)) for each in loaded.values())
    validator = jsonschema.Draft7Validator(loaded["bom-1.5"], registry=registry)
    assert not [*validator.iter_errors(listed)]
    assert [*validator.iter_errors(listed | {"components": [{"type": "library"}]})], "the schema sees an offence"


def test_a_system_that_is_not_debian_has_no_such_packages(tmp_path: Path) -> None:
    assert [*sbom.debian(tmp_path / "none")] == []
