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
DRIVER_PACKAGES = (
    CHECKOUT / "spark_apps",
    CHECKOUT / "operator" / "paimon_contract",
    CHECKOUT / "operator" / "paimon_engines",
    CHECKOUT / "operator" / "paimon_schema",
)
"""The Python packages of the Spark image that are this project's own."""
ENTRYPOINT = CHECKOUT / "spark_apps" / "entrypoint.sh"
TRAINING = CHECKOUT / "tools" / "engines" / "train_cds.py"
"""Makes the class-data archive; in the image only while it is built."""

SPARK_REQUIREMENTS = ("backports.zstd", "botocore", "fastavro", "hdfs-native", "py4j", "pyyaml", "tzdata")
"""What the Spark image needs from PyPI besides pyspark itself; versions by constraints.txt."""

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
    _put_wheels(context, wheels.download(wheels.operator_requirements()).glob("*.whl"))
    (context / "requirements.txt").write_text("\n".join(wheels.operator_requirements()) + "\n")
    wheels.project(context / "app")
    return context


def prepare_spark(engine: Engine, jars: Path, archive_key: str) -> Path:
    """Fills the context of Dockerfile.spark for one engine and returns it."""
    context = fresh(f"spark-{engine.id}")
    _put_wheels(context, wheels.download(SPARK_REQUIREMENTS).glob("*.whl"))
    spark_wheel = wheels.pyspark(engine.pyspark)
    link(spark_wheel, context / "wheels" / spark_wheel.name)
    (context / "requirements.txt").write_text("\n".join([f"pyspark=={engine.pyspark}", *SPARK_REQUIREMENTS]) + "\n")
    for jar in jars.glob("*.jar"):
        link(jar, context / "jars" / jar.name)
    for package in DRIVER_PACKAGES:
        copy_sources(package, context / "app" / package.name)
    trained, training = cache_root() / "training" / archive_key, context / "training"
    if trained.exists():
        copy_sources(trained, training)
    else:
        copy_sources(context / "app", training)
        tools = TRAINING.parent
        copy_sources(tools, training / tools.relative_to(CHECKOUT))
        _fix_directories(training)
    return context


def remember_training(engine: Engine, archive_key: str) -> None:
    """Keeps the sources that a good archive was made with: the next change of spark_apps reuses the archive's layer."""
    used = ROOT / f"spark-{engine.id}" / "training"
    cached("training", archive_key, lambda into: copy_sources(used, into))


def _put_wheels(context: Path, files: Iterable[Path]) -> None:
    """Puts the wheels into `wheels/`, and pip under a fixed name beside: a wheel of pip can be run as it is."""
    for wheel in files:
        target = context / "pip.whl" if wheel.name.startswith("pip-") else context / "wheels" / wheel.name
        link(wheel, target)


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
