"""Builds the images from the clone and brings them where nodes find them: `python -m tools.images.publish`.

    --registry HOST/PATH    pushes paimon-operator:VERSION and paimon-spark:ENGINE-VERSION, and prints them by digest
    --load "COMMAND"        runs COMMAND with each image, for example "kind load docker-image"
    --engines newest|all|ID[,ID]

It needs an image builder and no root: tools/images/builder.py.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from paimon_engines.loader import supported_engines
from tools.images.builder import CHECKOUT, ImageBuilder, NoBuilderError, image_builder

OPERATOR: Final = "paimon-operator"
SPARK: Final = "paimon-spark"
Deliver = Callable[[str], str]
"""Brings an image where nodes find it, and returns the reference that they use."""


@dataclass(frozen=True)
class Images:
    """The references of what was built, as the nodes use them."""

    operator: str
    spark: Mapping[str, str]
    """By engine."""


def version() -> str:
    """The version of this clone."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])


def chosen_engines(choice: str) -> Sequence[str]:
    """The ids that `newest`, `all` or a list of ids stands for, oldest first. Raises ValueError."""
    known = list(supported_engines())
    if choice in ("newest", "all"):
        return known if choice == "all" else known[-1:]
    unknown = set(choice.split(",")) - set(known)
    if unknown:
        raise ValueError(f"no engine {', '.join(sorted(unknown))}: known are {', '.join(known)}")
    return [each for each in known if each in choice.split(",")]


def pusher(builder: ImageBuilder) -> Deliver:
    """Pushes each image."""
    return builder.push


def loader(command: str) -> Deliver:
    """Runs a command with each image, such as `kind load docker-image`."""

    def load(reference: str) -> str:
        subprocess.run([*shlex.split(command), reference], check=True)
        return reference

    return load


def publish(
    builder: ImageBuilder, engines: Collection[str], deliver: Deliver, *, prefix: str = "", tag: str = ""
) -> Images:
    """Builds and delivers the operator's image and one for each engine. `prefix` is a registry with its path."""
    before, tag = f"{prefix}/" if prefix else "", tag or version()
    operator = f"{before}{OPERATOR}:{tag}"
    builder.build(operator, "Dockerfile", {"VERSION": tag})
    delivered, spark = deliver(operator), {}
    for engine in engines:
        reference = f"{before}{SPARK}:{engine}-{tag}"
        builder.build(reference, "Dockerfile.spark", {"VERSION": tag, "ENGINE": engine})
        spark[engine] = deliver(reference)
    return Images(delivered, spark)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the references. Returns 2 where something is missing or wrong."""
    parser = argparse.ArgumentParser(prog="python -m tools.images.publish", description=__doc__)
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--registry", help="host with a path: registry.example.com/data")
    place.add_argument("--load", help='a command: "kind load docker-image"')
    parser.add_argument("--engines", default="all", help="newest, all, or ids with commas")
    given = parser.parse_args(arguments)
    try:
        builder, engines = image_builder(), chosen_engines(given.engines)
    except (NoBuilderError, ValueError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    deliver = loader(given.load) if given.load else pusher(builder)
    images = publish(builder, engines, deliver, prefix=given.registry or "")
    for name, reference in {"operator": images.operator, **images.spark}.items():
        sys.stdout.write(f"{name}: {reference}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
