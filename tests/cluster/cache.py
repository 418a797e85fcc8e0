"""Cache of built programs, fetched packages and images: outside the checkout, keyed by version."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]


def cache_root() -> Path:
    """Returns `$PAIMON_OPERATOR_CACHE`, or `paimon-operator` under the user's cache directory."""
    if own := os.environ.get("PAIMON_OPERATOR_CACHE"):
        return Path(own).resolve()
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base).resolve() / "paimon-operator"


@contextmanager
def locked(key: str) -> Iterator[None]:
    """Holds the lock `key` of this cache, so that two processes (or two checkouts) never make the same thing twice."""
    lock = cache_root() / "locks" / f"{key}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"{key}: another process is making it, waiting", flush=True)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def cached(kind: str, key: str, make: Callable[[Path], None]) -> Path:
    """Returns the directory `<cache>/<kind>/<key>`, made by `make(directory)` if it is not there yet.

    `make` fills a directory beside it, which is then renamed: a directory under its final name is always whole.
    """
    final = cache_root() / kind / key
    if final.exists():
        return final
    with locked(f"{kind}-{key}"):
        if final.exists():
            return final
        final.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{key}.", dir=final.parent))
        try:
            make(fresh)
            fresh.chmod(0o755)
            fresh.rename(final)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return final
