"""The committed data about each engine is what its jar says today."""

from __future__ import annotations

import subprocess
import sys

from paimon_engines.engine import Engine
from paimon_engines.loader import load_engine
from tools.engines.generate import target


def test_the_committed_data_is_what_the_jar_says(engine: Engine) -> None:
    command = [sys.executable, "-m", "tools.engines.generate", "--engine", engine.id, "--print"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert said == target(engine).read_text(encoding="utf-8"), "run: python -m tools.engines.generate"


def test_what_may_change_comes_from_the_jar_and_from_what_the_jar_does_not_know(engine: Engine) -> None:
    loaded = load_engine(engine.id)

    assert not loaded.changeable("merge-engine"), "the jar says so"
    assert not loaded.changeable("bucket"), "engines.yaml says so"
    assert not loaded.changeable("fields.amount.aggregate-function"), "engines.yaml says so, by prefix"
    assert loaded.changeable("snapshot.time-retained")
