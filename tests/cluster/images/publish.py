"""Pushes the images of the node to a registry, for the tests of an installation from there."""

from __future__ import annotations

import tomllib

from tests.cluster.cache import CHECKOUT, locked
from tests.cluster.images import storage
from tests.cluster.images.deliver import build, recipes


def publish(registry: str, *, plain_http: bool = False) -> dict[str, str]:
    """Builds what is missing and pushes `paimon-operator:<version>` and `paimon-spark:<engine>-<version>`.

    `registry` is a host with an optional path. Credentials are those that `buildah login` has stored. Returns for each
    reference by tag the one by digest. Raises CommandFailedError with the registry's words.
    """
    version = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["version"]
    references = {}
    with locked("images"):
        for recipe in recipes():
            build(recipe)
            tag = f"{recipe.variant}-{version}" if recipe.variant else version
            repository = f"{registry}/{recipe.repository}"
            digest = storage.publish(recipe.local_name, f"{repository}:{tag}", plain_http=plain_http)
            references[f"{repository}:{tag}"] = f"{repository}@{digest}"
    return references
