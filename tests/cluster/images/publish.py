"""Pushes the images to a registry of the user's: what `make push` does."""

from __future__ import annotations

import tomllib

from tests.cluster.cache import CHECKOUT, locked
from tests.cluster.images import storage
from tests.cluster.images.deliver import build, recipes


def publish(registry: str, *, plain_http: bool = False) -> list[str]:
    """Builds what is missing and pushes `paimon-operator:<version>` and `paimon-spark:<engine>-<version>`.

    `registry` is a host with an optional path. Credentials are those that `buildah login` has stored. Returns the
    references. Raises CommandFailedError with the registry's words.
    """
    version = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["version"]
    references = []
    with locked("images"):
        for recipe in recipes():
            build(recipe)
            tag = f"{recipe.variant}-{version}" if recipe.variant else version
            references.append(f"{registry}/{recipe.repository}:{tag}")
            storage.publish(recipe.local_name, references[-1], plain_http=plain_http)
    return references
