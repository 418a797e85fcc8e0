"""The release that upgrades start from: chart and images of one earlier commit, built by the tooling of that commit.

`python -m tests.cluster.earlier` builds the images, which a test would do otherwise.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.cluster import containerd, release
from tests.cluster.cache import CHECKOUT, cached, locked
from tests.cluster.images import storage
from tests.cluster.images.deliver import copy_to_node
from tests.cluster.layout import Layout
from tests.cluster.progress import CommandFailedError, run, run_with_progress

COMMIT: Final = "d12527945abb9ce2b0723d4ca1e740fcf0c5b6e7"
"""Named only here. A newer commit must be on the main branch, whose history is never rewritten."""

_BUILD: Final = """
import json, sys
from tests.cluster.cache import locked
from tests.cluster.images.deliver import build, recipes
chosen = [recipe for recipe in recipes() if recipe.variant in ("", sys.argv[2])]
with locked("images"):
    for recipe in chosen:
        build(recipe)
found = {recipe.variant: [recipe.repository, recipe.tag, recipe.local_name] for recipe in chosen}
open(sys.argv[1], "w").write(json.dumps(found))
"""
"""Runs in the earlier tree. An image's tag is the digest of its inputs, so an unchanged image is not built again."""


class CommitMissingError(Exception):
    """The clone is shallow, and the commit cannot be fetched."""


class EngineMissingError(Exception):
    """The earlier tree cannot have the engine's jars, so it has no Spark image to upgrade from."""


@dataclass(frozen=True)
class Image:
    """An image in buildah's store, and its name in a registry."""

    repository: str
    tag: str
    local_name: str


def chart() -> Path:
    """Returns the directory of the earlier chart."""
    return _source() / "charts" / "paimon-operator"


def deliver(layout: Layout, engine: str) -> dict[str, Any]:
    """Delivers the earlier images to the node and returns their references, in the form of `images.json`."""
    images = _images(engine)
    references = {variant: _deliver(image, layout) for variant, image in images.items()}
    return {"operator": references.pop(""), "spark": references}


def _source() -> Path:
    """Returns the earlier tree, exported once per machine."""
    return cached("earlier", COMMIT, _export)


def _export(into: Path) -> None:
    if not _has_commit():
        _fetch()
    archive = into / "tree.tar"
    run(["git", "-C", str(CHECKOUT), "archive", f"--output={archive}", COMMIT])
    run(["tar", "--extract", f"--file={archive}", f"--directory={into}"])
    archive.unlink()


def _has_commit() -> bool:
    command = ["git", "-C", str(CHECKOUT), "cat-file", "-e", f"{COMMIT}^{{commit}}"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _fetch() -> None:
    """Fetches the commit, which a shallow clone lacks, from the origin; raises CommitMissingError."""
    try:
        run(["git", "-C", str(CHECKOUT), "fetch", "--quiet", "--depth=1", "origin", COMMIT])
    except CommandFailedError as error:
        raise CommitMissingError(
            f"commit {COMMIT} is not in this clone, and cannot be fetched from its origin: {error}. "
            "Clone with the whole history, or `git fetch --unshallow`."
        ) from error


def _images(engine: str) -> dict[str, Image]:
    """Returns the images by variant (the operator's is \"\"), built unless the store has them."""
    answer = _source().parent / f"{COMMIT}-{engine}.json"
    if answer.exists() and all(storage.exists(image.local_name) for image in _read(answer).values()):
        return _read(answer)
    fresh = answer.with_suffix(f".{os.getpid()}")
    command = [sys.executable, "-c", _BUILD, str(fresh), engine]
    environment = {**os.environ, "PYTHONPATH": str(_source())}
    with locked(f"earlier-{COMMIT}"):  # the tree's own build directory serves one at a time
        run_with_progress(f"images of {COMMIT[:7]}", command, cwd=_source(), env=environment)
    built = _read(fresh)
    if engine not in built:
        fresh.unlink()
        raise EngineMissingError(
            f"the tooling of {COMMIT[:7]} finds no jars of {engine}; "
            "name their directory in PAIMON_OPERATOR_JARS_DIR, then try again"
        )
    fresh.rename(answer)
    return built


def _read(answer: Path) -> dict[str, Image]:
    return {variant: Image(*names) for variant, names in json.loads(answer.read_text()).items()}


def _deliver(image: Image, layout: Layout) -> str:
    reference = f"{containerd.REGISTRY}/{image.repository}:{image.tag}"
    if reference not in containerd.images(layout):
        copy_to_node(image.local_name, reference, layout)
    return reference


if __name__ == "__main__":
    _images(release.newest_engine())
