"""Brings images onto the node: builds what changed, pushes it to the node's registry, pulls it ahead of any pod."""

from __future__ import annotations

import json
from pathlib import Path

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
        storage.push(recipe.local_name, reference, layout)
        containerd.pull(layout, reference)
    return reference


def build(recipe: Recipe) -> None:
    """Builds the image (and its base) into the store unless it is there. The caller holds the lock `images`."""
    if storage.exists(recipe.local_name):
        return
    arguments = {}
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


def recipes() -> list[Recipe]:
    """Returns the operator's recipe and one per engine whose jars can be had; says which engine has none and why."""
    found = [operator_recipe()]
    for availability in (fetch(engine) for engine in supported_engines().values()):
        if availability.directory is None:
            print(f"{availability.engine.id}: no image, {availability.reason}", flush=True)
        else:
            found.append(spark_recipe(availability.engine, availability.directory))
    return found


def prepare_contexts() -> list[Path]:
    """Fills the build contexts of all images and returns their directories."""
    return [recipe.prepare() for recipe in recipes()]


def deliver_all(layout: Layout) -> None:
    """Brings every image onto the node and writes images.json."""
    operator, *spark = recipes()
    references = {
        "operator": deliver(operator, layout),
        "spark": {recipe.variant: deliver(recipe, layout) for recipe in spark},
    }
    fresh = layout.images_file.with_suffix(".new")
    fresh.write_text(json.dumps(references, indent=1) + "\n")
    fresh.rename(layout.images_file)
