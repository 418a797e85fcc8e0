"""Build contexts: a directory per image with everything its Dockerfile copies, below build/image-context."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from paimon_engines.engine import Engine
from tests.cluster.cache import CHECKOUT, cache_root, cached
from tests.cluster.images import wheels
from tests.cluster.images.digest import source_files

ROOT = CHECKOUT / "build" / "image-context"
OPERATOR_SOURCES = tuple(
    CHECKOUT / "operator" / name for name in ("paimon_operator", "paimon_contract", "paimon_engines", "paimon_schema")
)
"""The packages of the operator's image that are this project's own."""
DRIVER_SOURCES = (CHECKOUT / "spark_apps", *OPERATOR_SOURCES[1:])
"""Those of the Spark image."""
ENTRYPOINT = CHECKOUT / "spark_apps" / "entrypoint.sh"
TRAINING_TOOLS = CHECKOUT / "tools" / "engines"
"""Makes the class-data archive; in the image only while it is built."""
LISTS = CHECKOUT / "tools" / "images"
PROJECT = CHECKOUT / "pyproject.toml"

# Layers are reused by their content *and* times; sources get one fixed time (2000-01-01).
_FIXED_TIME = 946_684_800


def fresh(name: str) -> Path:
    """Returns the empty directory of the context `name`."""
    directory = ROOT / name
    if directory.exists():
        shutil.rmtree(directory)
    directory.mkdir(parents=True)
    return directory


def prepare_operator() -> Path:
    """Fills the context of Dockerfile and returns it."""
    context = fresh("operator")
    _put_wheels(context, wheels.download(wheels.PIP_LIST, wheels.OPERATOR_LIST).glob("*.whl"))
    for sources in (*OPERATOR_SOURCES, LISTS, PROJECT):
        _copy_in(sources, context)
    return context


def prepare_spark(engine: Engine, jars: Path, archive_key: str) -> Path:
    """Fills the context of Dockerfile.spark for one engine and returns it."""
    context = fresh(f"spark-{engine.id}")
    _put_wheels(context, wheels.download(wheels.PIP_LIST, wheels.SPARK_LIST).glob("*.whl"))
    spark_wheel = wheels.pyspark()
    link(spark_wheel, context / "prefetched" / "wheels" / spark_wheel.name)
    for jar in jars.glob("*.jar"):
        link(jar, context / "prefetched" / "jars" / jar.name)
    for sources in (*DRIVER_SOURCES, LISTS):
        _copy_in(sources, context)
    trained, training = cache_root() / "training" / archive_key, context / "training"
    if trained.exists():
        copy_sources(trained, training)
    else:
        for sources in (*DRIVER_SOURCES, TRAINING_TOOLS):
            _copy_in(sources, training)
    return context


def remember_training(engine: Engine, archive_key: str) -> None:
    """Keeps the sources that a good archive was made with: the next change of spark_apps reuses the archive's layer."""
    used = ROOT / f"spark-{engine.id}" / "training"
    cached("training", archive_key, lambda into: copy_sources(used, into))


def _put_wheels(context: Path, files: Iterable[Path]) -> None:
    """Puts the wheels into `prefetched`, and pip under a fixed name: a wheel of pip can be run as it is."""
    prefetched = context / "prefetched"
    for wheel in files:
        target = prefetched / "pip.whl" if wheel.name.startswith("pip-") else prefetched / "wheels" / wheel.name
        link(wheel, target)


def _copy_in(sources: Path, context: Path) -> None:
    """Copies a directory of the checkout to its place in the context."""
    copy_sources(sources, context / sources.relative_to(CHECKOUT))
    _fix_directories(context / sources.relative_to(CHECKOUT).parts[0])


def link(source: Path, target: Path) -> None:
    """Hard link where possible: a context holds half a gigabyte."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        target.hardlink_to(source)
    except OSError:  # another file system
        shutil.copy2(source, target)


def copy_sources(tree: Path, target: Path) -> None:
    """Copies a source tree without Python's caches, every file with the same time and readable by all."""
    for file in source_files(tree):
        copy = target / file.relative_to(tree)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
        copy.chmod(0o755 if os.access(file, os.X_OK) else 0o644)
        os.utime(copy, (_FIXED_TIME, _FIXED_TIME))
    _fix_directories(target)


def _fix_directories(target: Path) -> None:
    """Gives `target` and all directories below it the same mode and time."""
    for directory in (target, *(path for path in target.rglob("*") if path.is_dir())):
        directory.chmod(0o755)
        os.utime(directory, (_FIXED_TIME, _FIXED_TIME))
