"""The owner mark: the table option that names the PaimonTable to which a physical table belongs."""

from __future__ import annotations

import hashlib
from typing import Final

_DIGEST_LENGTH: Final = 32
"""Characters of a digest. Two marks of one cluster do not share 128 bits."""


def owner_mark(cluster_id: str, namespace: str, name: str) -> str:
    """The mark of a PaimonTable. It is the same after the PaimonTable is deleted and recreated."""
    return f"{cluster_id}/{namespace}/{name}"


def digest_of(mark: str) -> str:
    """The mark as a job lists it: users of one namespace can read the job, and shall find no name of another one."""
    return hashlib.sha256(mark.encode()).hexdigest()[:_DIGEST_LENGTH]
