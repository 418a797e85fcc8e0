"""Makes a release: `python -m tools.release --registry HOST/PATH`, which is `make release`.

    --engines all|newest|ID[,ID]    whose Spark images the release has
    --plain-http                    helm reaches the registry without TLS

Builds and pushes the images, packages the chart with their digests, and pushes it. Into build/release it
writes the chart, a CycloneDX document for each image, and the notes of the version from CHANGELOG.md. It stops before
it builds anything where the version has no notes, or the registry has the version already.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tools.images.builder import CHECKOUT, ImageBuilder, NoBuilderError, image_builder
from tools.images.publish import Images, chosen_engines, publish, pusher, version
from tools.release import changelog, chart

DIRECTORY: Final = CHECKOUT / "build" / "release"


def is_released(registry: str, number: str, *, plain_http: bool) -> bool:
    """Whether the registry has the chart of this version: a version is released once."""
    flags = ["--plain-http"] if plain_http else []
    command = ["helm", "show", "chart", *flags, f"oci://{registry}/charts/paimon-operator", f"--version={number}"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def release(builder: ImageBuilder, registry: str, engines: Sequence[str], *, plain_http: bool) -> str:
    """Returns the command that installs the release. Raises MissingNotesError, ValueError, CalledProcessError."""
    number = version()
    notes = changelog.notes(number)
    if is_released(registry, number, plain_http=plain_http):
        raise ValueError(f"{registry} has version {number} already: raise the version in pyproject.toml")
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    DIRECTORY.mkdir(parents=True)
    images = publish(builder, engines, pusher(builder), prefix=registry)
    write_documents(builder, images, DIRECTORY)
    archive = chart.package(images, number, DIRECTORY)
    address = chart.push(archive, registry, plain_http=plain_http)
    command = f"helm install paimon-operator {address} --version {number}"
    (DIRECTORY / "notes.md").write_text(notes_file(notes, images, command), encoding="utf-8")
    return command


def write_documents(builder: ImageBuilder, images: Images, directory: Path) -> None:
    """Writes what each image consists of."""
    builder.export(directory, "Dockerfile", {"VERSION": version()})
    (directory / "sbom.cdx.json").rename(directory / "paimon-operator.cdx.json")
    for engine in images.spark:
        builder.export(directory, "Dockerfile.spark", {"VERSION": version(), "ENGINE": engine})
        (directory / "sbom.cdx.json").rename(directory / f"paimon-spark-{engine}.cdx.json")


def notes_file(notes: str, images: Images, command: str) -> str:
    """The text of notes.md: what has changed, the images by digest, and the command that installs the release."""
    listing = "".join(f"* `{each}`\n" for each in (images.operator, *images.spark.values()))
    return f"{notes}\n{listing}\n    {command}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the command that installs the release. Returns 2 where something is missing."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__)
    parser.add_argument("--registry", required=True, help="host with a path: registry.example.com/data")
    parser.add_argument("--engines", default="all", help="newest, all, or ids with commas")
    parser.add_argument("--plain-http", action="store_true", help="helm reaches the registry without TLS")
    given = parser.parse_args(arguments)
    try:
        engines = chosen_engines(given.engines)
        command = release(image_builder(), given.registry, engines, plain_http=given.plain_http)
    except (NoBuilderError, changelog.MissingNotesError, ValueError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write(f"{command}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
