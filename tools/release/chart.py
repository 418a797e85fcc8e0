"""The chart of a release: its values name the released images by digest, so installing it needs no other value."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from tools.images.builder import CHECKOUT
from tools.images.publish import Images

CHART: Final = CHECKOUT / "charts" / "paimon-operator"


def released_values(text: str, images: Images) -> str:
    """The chart's values.yaml with these images, its comments as they were. Raises ValueError if a place is missing."""
    repository, _, digest = images.operator.partition("@")
    spark = "".join(f"    {engine}: {reference}\n" for engine, reference in images.spark.items())
    text = re.sub(r"^  repository: .*$", f"  repository: {repository}", text, count=1, flags=re.MULTILINE)
    text = re.sub(r'^  digest: ""$', f"  digest: {digest}", text, count=1, flags=re.MULTILINE)
    text = re.sub(r"^  images:\n(?:    \S+: \S+\n)+", f"  images:\n{spark}", text, count=1, flags=re.MULTILINE)
    found: Mapping[str, Any] = yaml.safe_load(text)
    named = {"repository": found["image"]["repository"], "digest": found["image"]["digest"]}
    if named != {"repository": repository, "digest": digest} or found["spark"]["images"] != dict(images.spark):
        raise ValueError("values.yaml has no place for the images where the release looks for it")
    return text


def package(images: Images, version: str, directory: Path) -> Path:
    """The chart's archive in the directory. Raises CalledProcessError with what helm has said."""
    copy = directory / "paimon-operator"
    shutil.copytree(CHART, copy, ignore=shutil.ignore_patterns("tests"))
    values = copy / "values.yaml"
    values.write_text(released_values(values.read_text(encoding="utf-8"), images), encoding="utf-8")
    versions = [f"--version={version}", f"--app-version={version}"]
    subprocess.run(["helm", "package", *versions, f"--destination={directory}", str(copy)], check=True)
    shutil.rmtree(copy)
    return directory / f"paimon-operator-{version}.tgz"


def push(archive: Path, registry: str, *, plain_http: bool) -> str:
    """Pushes the archive. Returns the address for `helm install`. Raises CalledProcessError."""
    flags = ["--plain-http"] if plain_http else []
    subprocess.run(["helm", "push", *flags, str(archive), f"oci://{registry}/charts"], check=True)
    return f"oci://{registry}/charts/paimon-operator"
