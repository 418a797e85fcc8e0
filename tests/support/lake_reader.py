"""Reads Paimon tables with pypaimon 2.1.0, which shares no code with their writer, in its own Python environment.

    rows = read_rows("s3://lake/shop", "shop", "orders", env=env)

Values are JSON: decimals and times are text, bytes are hexadecimal. S3 is reached with AWS_ENDPOINT_URL,
AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION of `env`.
"""

from __future__ import annotations

import atexit
import fcntl
import functools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tools.engines.fetch import cache_dir

VERSION = "2.1.0"
PROGRAM = Path(__file__).with_name("lake_reader_program.py")


def read_rows(
    warehouse: str, database: str, table: str, *, env: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """All rows of a table, or of a system table (`orders$snapshots`), ordered by the first column."""
    return read_many(warehouse, database, [table], env=env)[0]


def read_many(
    warehouse: str, database: str, tables: Iterable[str], *, env: Mapping[str, str] | None = None
) -> list[list[dict[str, Any]]]:
    """The rows of several tables, each at its head, or where its name ends so, at `@<option>=<value>` of the scan."""
    names = [f"{database}.{table}" for table in tables]
    options = catalog_options(warehouse, {**os.environ, **(env or {})})
    answer = _reader().ask({"catalog": options, "tables": names})
    if "error" in answer:
        raise AssertionError(f"pypaimon cannot read {names} of {warehouse}: {answer['error'][-2000:]}")
    rows: list[list[dict[str, Any]]] = answer["rows"]
    return rows


def catalog_options(warehouse: str, env: Mapping[str, str]) -> dict[str, str]:
    """The options with which pypaimon opens a warehouse."""
    options = {"warehouse": warehouse}
    if warehouse.startswith("s3://"):
        options["s3.endpoint"] = env["AWS_ENDPOINT_URL"]
        options["s3.access-key"] = env["AWS_ACCESS_KEY_ID"]
        options["s3.secret-key"] = env["AWS_SECRET_ACCESS_KEY"]
        options["s3.region"] = env.get("AWS_REGION", "us-east-1")
        options["s3.path.style.access"] = "true"
    return options


class _Reader:
    """The reader's process. It takes three seconds to start, so it runs until this process ends."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [str(python()), str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        atexit.register(self.stop)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError(f"pypaimon's process ended with {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def prepare() -> None:
    """Builds the reader's environment unless the cache has it, so that the first read takes seconds."""
    python()


@functools.cache
def _reader() -> _Reader:
    return _Reader()


def python() -> Path:
    """The interpreter of the environment, which is built once per version (581 MB) and shared by all checkouts."""
    home = cache_dir() / f"pypaimon-{VERSION}"
    python, whole = home / "bin" / "python", home / "whole"
    home.parent.mkdir(parents=True, exist_ok=True)
    with home.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not whole.exists():
            _build(home, python)
            whole.write_text(time.strftime("%Y-%m-%d\n"), encoding="utf-8")
    return python


def _build(home: Path, python: Path) -> None:
    sys.stderr.write(f"building the environment of pypaimon {VERSION} in {home} (581 MB)\n")
    shutil.rmtree(home, ignore_errors=True)
    uv = [sys.executable, "-m", "uv", "--quiet"]
    subprocess.run([*uv, "venv", "--python", sys.executable, str(home)], check=True)
    subprocess.run([*uv, "pip", "install", "--python", str(python), f"pypaimon=={VERSION}"], check=True)
    _compile(python)


def _compile(python: Path) -> None:
    """Imports what the program needs, so that the interpreter compiles it now and not at the first read."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    request = json.dumps({"catalog": {"warehouse": "/"}, "tables": []})
    command = [str(python), str(PROGRAM)]
    subprocess.run(command, input=request.encode(), env=environment, stdout=subprocess.DEVNULL, check=True)
