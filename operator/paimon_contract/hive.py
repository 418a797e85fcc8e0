"""The lock of a Hive metastore, as drivers watch it and as the operator's rules know it."""

from __future__ import annotations

from typing import Final

LOCK_STALE_AFTER_S: Final = 300
"""Seconds without a heartbeat after which a lock counts as stale: Hive's own metastore.txn.timeout, which its cleaner
uses. A driver waits that long before it removes the lock of a driver that died, so no run may be stopped earlier."""
