"""The secret of the connection between a driver and its executors, computed on both sides from common inputs.

Spark would generate one and write it into the executors' Pods, where everybody with read access to Pods can read it.
Driver and executors share the storage's Secret; from it, the run and the attempt each side computes the same value.
`python -m spark_apps.executors.shared_secret` prints it for an executor's environment.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import sys
from pathlib import Path

from paimon_contract import environment


def shared_secret(application: str) -> bytes | None:
    """The secret of `application` in this run; None where the storage has no secret that both sides know.

    SHARED_SECRETS names variables and directories, set by the operator in both Pods.
    """
    parts = [part for part in map(_value, os.environ.get(environment.SHARED_SECRETS, "").split()) if part]
    if not parts:
        return None
    # Each part as a digest, so that no two lists of parts read the same when joined.
    key = b"".join(hashlib.sha256(part).digest() for part in parts)
    return hmac.digest(key, f"{os.environ[environment.RUN_UID]}/{application}".encode(), "sha256")


def as_spark_reads_it(secret: bytes) -> str:
    """The form that Spark gives to a secret from a file."""
    return base64.b64encode(secret).decode()


def _value(place: str) -> bytes:
    if not place.startswith("/"):
        return os.environ.get(place, "").encode()
    # A mounted Secret also shows itself under names that begin with two dots and differ from Pod to Pod.
    files = sorted(each for each in Path(place).glob("*") if each.is_file() and not each.name.startswith(".."))
    return b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)


if __name__ == "__main__":
    found = shared_secret(os.environ[environment.SPARK_APPLICATION_ID])
    sys.stdout.write(as_spark_reads_it(found) if found else "")
