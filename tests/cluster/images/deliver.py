"""Brings images onto the node: builds what changed, and imports it into containerd ahead of any Pod."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

from paimon_engines.loader import supported_engines
from tests.cluster import containerd
from tests.cluster.cache import locked
from tests.cluster.images import storage
from tests.cluster.images.recipes import Recipe, operator_recipe, pause_recipe, spark_recipe
from tests.cluster.layout import Layout
from tools.engines.fetch import fetch


def deliver(recipe: Recipe, layout: Layout) -> str:
    """Returns the reference under which the node has the image; nothing is done when it has it already."""
    reference = f"{containerd.REGISTRY}/{recipe.repository}:{recipe.tag}"
    if reference not in containerd.images(layout):
        with locked("images"):
            build(recipe)
        copy_to_node(recipe.local_name, reference, layout)
    return reference


def copy_to_node(local_name: str, reference: str, layout: Layout) -> None:
    """Copies an image of buildah's store into the node's containerd, under the name `reference`."""
    with tempfile.TemporaryDirectory(dir=layout.state) as directory:
        archive = Path(directory) / "image.tar"
        storage.save(local_name, archive, reference)
        containerd.import_archive(layout, archive)


def build(recipe: Recipe) -> None:
    """Builds the image (and its base) into the store unless it is there. The caller holds the lock `images`."""
    if storage.exists(recipe.local_name):
        return
    arguments = dict(recipe.arguments)
    if recipe.base:
        build(recipe.base)
        arguments["BASE_IMAGE"] = recipe.base.local_name
    storage.build(recipe.local_name, dockerfile=recipe.dockerfile, context=recipe.prepare(), arguments=arguments)
    recipe.built()


def deliver_pause(layout: Layout) -> None:
    """Without this one no pod starts: containerd's configuration names it."""
    reference = deliver(pause_recipe(), layout)
    if containerd.PAUSE_IMAGE not in containerd.images(layout):
        containerd.ctr(layout, "images", "tag", reference, containerd.PAUSE_IMAGE)


def recipes(*, newest_only: bool = False, always: Collection[str] = ()) -> list[Recipe]:
    """Returns the operator's recipe and one per engine whose jars can be had, the newest engine's last.

    Says which engine has none and why. With `newest_only`: the newest of them, and those whose ids are in `always`.
    """
    found: list[Recipe] = []
    for engine in reversed(list(supported_engines().values())):
        if newest_only and found and engine.id not in always:
            continue
        availability = fetch(engine)
        if availability.directory is None:
            print(f"{engine.id}: no image, {availability.reason}", flush=True)
        else:
            found.append(spark_recipe(engine, availability.directory))
    return [operator_recipe(), *reversed(found)]


def build_all(layout: Layout, *, newest_only: bool = False) -> list[Recipe]:
    """Builds every image into the store, and returns the recipes of those that `deliver_all` brings onto the node.

    Nothing is done for images that are there. An engine that the node has is kept up to date.
    """
    for_node = recipes(newest_only=newest_only, always=engines_on_node(layout))
    for recipe in (pause_recipe(), *for_node):
        with locked("images"):
            build(recipe)
    return for_node


def prepare_contexts() -> list[Path]:
    """Fills the build contexts of all images and returns their directories."""
    with locked("images"):
        return [recipe.prepare() for recipe in recipes()]


def engines_on_node(layout: Layout) -> set[str]:
    """Returns the ids of the engines that images.json lists, none before the first delivery."""
    return set(json.loads(layout.images_file.read_text())["spark"]) if layout.images_file.exists() else set()


def deliver_all(layout: Layout, for_node: Collection[Recipe]) -> dict[str, Any]:
    """Brings the images onto the node, writes their references into images.json and returns them."""
    operator, *spark = for_node
    references: dict[str, Any] = {
        "operator": deliver(operator, layout),
        "spark": {recipe.variant: deliver(recipe, layout) for recipe in spark},
    }
    fresh = layout.images_file.with_suffix(".new")
    fresh.write_text(json.dumps(references, indent=1) + "\n")
    fresh.rename(layout.images_file)
    return references
