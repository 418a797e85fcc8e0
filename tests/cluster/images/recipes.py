"""What images there are, what each is built from, and the digest of its inputs that becomes its tag."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from paimon_engines.engine import Engine
from tests.cluster.cache import CHECKOUT
from tests.cluster.images import context, pause, wheels
from tests.cluster.images.digest import digest
from tests.cluster.images.rootfs import PYTHON_PACKAGES, SPARK_PACKAGES, key, rootfs

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Recipe:
    """One image: `prepare` fills a build context and returns its path; it runs only when the image must be built."""

    repository: str
    inputs: str
    """Digest of everything that decides the image's content."""
    dockerfile: Path
    prepare: Callable[[], Path]
    variant: str = ""
    base: Recipe | None = None
    arguments: Mapping[str, str] = field(default_factory=dict)
    """The build's own, besides BASE_IMAGE."""
    built: Callable[[], None] = lambda: None
    """Called after a build that went well."""

    @property
    def tag(self) -> str:
        return f"{self.variant}-{self.inputs}" if self.variant else self.inputs

    @property
    def local_name(self) -> str:
        """The image's name in buildah's own store."""
        return f"localhost/{self.repository}:{self.tag}"


def _base(name: str, packages: tuple[str, ...]) -> Recipe:
    dockerfile = _HERE / "base" / "Dockerfile"
    inputs = digest(files=[dockerfile], texts=[key(packages)])
    return Recipe(f"paimon-base-{name}", inputs, dockerfile, lambda: rootfs(packages).parent)


def pause_recipe() -> Recipe:
    """The sandbox image, compiled on the host."""
    dockerfile = pause.SOURCE.parent / "Dockerfile"
    return Recipe("pause", digest(files=[dockerfile, pause.SOURCE]), dockerfile, pause.prepare)


def operator_recipe() -> Recipe:
    """The operator's image."""
    dockerfile = CHECKOUT / "Dockerfile"
    base = _base("python", PYTHON_PACKAGES)
    sources = [dockerfile, context.PROJECT, context.LISTS, *context.OPERATOR_SOURCES]
    inputs = digest(files=sources, texts=[base.inputs])
    return Recipe(
        "paimon-operator", inputs, dockerfile, context.prepare_operator, base=base, arguments={"PACKAGES": "context"}
    )


def spark_recipe(engine: Engine, jars: Path) -> Recipe:
    """One engine's Spark image. `jars` is the directory of its jars."""
    dockerfile = CHECKOUT / "Dockerfile.spark"
    base = _base("spark", SPARK_PACKAGES)
    of_archive = [dockerfile, context.ENTRYPOINT, context.TRAINING_TOOLS / "train_cds.py", *sorted(jars.glob("*.jar"))]
    of_archive += [wheels.SPARK_LIST, wheels.PYSPARK_LIST, context.LISTS / "sbom.py"]
    archive_key = digest(files=of_archive, texts=[base.inputs, engine.id])
    return Recipe(
        "paimon-spark",
        digest(files=context.DRIVER_SOURCES, texts=[archive_key]),
        dockerfile,
        lambda: context.prepare_spark(engine, jars, archive_key),
        variant=engine.id,
        base=base,
        arguments={"PACKAGES": "context", "ENGINE": engine.id, "TRAINING": "training"},
        built=lambda: context.remember_training(engine, archive_key),
    )
