"""The committed data of each engine equals the data of its jar.

The generator takes minutes. Its result is cached by jar, generator and Java.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from importlib.metadata import version
from pathlib import Path

import pytest

from paimon_engines.engine import Engine
from paimon_engines.loader import load_engine
from tests.cluster.cache import CHECKOUT, cached
from tests.cluster.images.digest import digest
from tests.support.spark_home import java_version
from tools.engines.generate import target


@pytest.mark.newest_engine
def test_the_committed_data_equals_the_generated_data(engine: Engine, generated: str) -> None:
    assert generated == target(engine).read_text(encoding="utf-8"), "run: python -m tools.engines.generate"


@pytest.fixture
def generated(engine: Engine, jars: Path) -> str:
    """Returns the generator's data for the jars, cached by all its inputs except the committed data."""
    sources = [CHECKOUT / "tools" / "engines", *sorted((CHECKOUT / "operator" / "paimon_engines").glob("*.[py]*"))]
    versions = [engine.id, version("pyspark"), java_version()]
    key = digest(files=[*sources, *sorted(jars.glob("*.jar"))], texts=versions)
    return (cached("engine-data", key, partial(generate, engine)) / "data.json").read_text(encoding="utf-8")


def generate(engine: Engine, into: Path) -> None:
    command = [sys.executable, "-m", "tools.engines.generate", "--engine", engine.id, "--print"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    (into / "data.json").write_text(said, encoding="utf-8")


def test_mutable_options_come_from_the_jar_and_from_engines_yaml(engine: Engine) -> None:
    loaded = load_engine(engine.id)

    assert not loaded.changeable("merge-engine"), "the jar says so"
    assert not loaded.changeable("bucket"), "engines.yaml says so"
    assert not loaded.changeable("fields.amount.aggregate-function"), "engines.yaml says so, by prefix"
    assert loaded.changeable("snapshot.time-retained")
