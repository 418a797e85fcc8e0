"""Runs one long command and prints a line every 30 seconds, so that a build does not look like a hang."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

INTERVAL = 30.0


class CommandFailedError(RuntimeError):
    """A command of the cluster tooling ended with a non-zero exit code; the message ends with its last output."""


def run_with_progress(
    what: str, command: Sequence[str], *, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> None:
    """Runs `command` quietly at low priority; raises CommandFailedError with its last output."""
    started = time.monotonic()
    print(f"{what}: started", flush=True)
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            ["nice", "-n", "5", *command], cwd=cwd, env=env, stdout=output, stderr=output, stdin=subprocess.DEVNULL
        )
        try:
            while (code := _wait(process)) is None:
                print(f"{what}: {time.monotonic() - started:.0f} s so far", flush=True)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
        if code:
            output.seek(0)
            tail = output.read()[-4000:].decode(errors="replace")
            raise CommandFailedError(f"{what} failed with exit code {code}: {' '.join(command)}\n{tail}")
    print(f"{what}: done in {time.monotonic() - started:.0f} s", flush=True)


def _wait(process: subprocess.Popen[bytes]) -> int | None:
    try:
        return process.wait(timeout=INTERVAL)
    except subprocess.TimeoutExpired:
        return None


def run(command: Sequence[str], *, stdin: bytes | None = None, env: Mapping[str, str] | None = None) -> str:
    """Runs a short command and returns its standard output; raises CommandFailedError with its output."""
    done = subprocess.run(command, input=stdin, env=env, capture_output=True, check=False)
    if done.returncode:
        said = (done.stderr + done.stdout)[-4000:].decode(errors="replace")
        raise CommandFailedError(f"exit code {done.returncode}: {' '.join(command)}\n{said}")
    return done.stdout.decode()
