"""The jars of an engine for Spark tests, at permanent paths, with a class-data archive for exactly these jars.

An archive is valid only for the class path of its creation: the same paths, sizes and times. So the jars are in the
cache, outside any checkout and virtual environment.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from paimon_engines.engine import Engine
from tests.cluster.cache import CHECKOUT, cached
from tests.cluster.images.context import ENTRYPOINT, TRAINING_TOOLS, link
from tests.cluster.images.digest import digest

ARCHIVE = "app.jsa"


@dataclass(frozen=True)
class SparkHome:
    """The content of /opt/paimon-operator in the image: `directory` contains jars/ and pyspark/jars/."""

    directory: Path
    archive: Path

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables that make the entrypoint use this home."""
        return {**_places(self.directory), "PAIMON_OPERATOR_ARCHIVE": str(self.archive)}


def spark_home(engine: Engine, jars: Path) -> SparkHome:
    """Returns the engine's home. The first call creates it in the cache; several processes may call at once."""
    pyspark = version("pyspark")
    class_path = digest(files=sorted(jars.glob("*.jar")), texts=[engine.id, pyspark, "1"])
    directory = cached("spark-home", class_path, functools.partial(_link_jars, jars))
    key = digest(
        files=[ENTRYPOINT, TRAINING_TOOLS / "train_cds.py"], texts=[class_path, str(directory), java_version()]
    )
    archives = cached("spark-archive", key, functools.partial(_train, directory))
    return SparkHome(directory, archives / ARCHIVE)


def java_version() -> str:
    """The output of `java -version`, because an archive is valid for one Java only."""
    return subprocess.run(["java", "-version"], check=True, capture_output=True, text=True).stderr


def _places(directory: Path) -> dict[str, str]:
    return {
        "PAIMON_OPERATOR_HOME": str(directory),
        "PYSPARK_DIR": str(directory / "pyspark"),
        "SPARK_APPS_DIR": str(CHECKOUT / "spark_apps"),
        "PYSPARK_PYTHON": sys.executable,
    }


def _link_jars(jars: Path, into: Path) -> None:
    pyspark = find_spec("pyspark")
    assert pyspark is not None
    assert pyspark.submodule_search_locations is not None
    (of_spark,) = pyspark.submodule_search_locations
    for source, target in ((jars, into / "jars"), (Path(of_spark) / "jars", into / "pyspark" / "jars")):
        for jar in source.glob("*.jar"):
            link(jar, target / jar.name)


def _train(directory: Path, into: Path) -> None:
    """Runs the image's training. Its JVM writes the class-data archive at its end."""
    scratch = Path(tempfile.mkdtemp())
    try:
        subprocess.run(
            [str(ENTRYPOINT), "train"],
            env={
                **os.environ,
                **_places(directory),
                "PAIMON_OPERATOR_ARCHIVE": str(into / ARCHIVE),
                "TMPDIR": str(scratch),
            },
            check=True,
            capture_output=True,
            cwd=scratch,
        )
    finally:
        shutil.rmtree(scratch)
