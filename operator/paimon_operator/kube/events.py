"""Posts Kubernetes Events, which `kubectl describe` shows. A repeated Event increments its count."""

from __future__ import annotations

import hashlib
import logging
from typing import Final

from paimon_operator.api.base import truncated_to_bytes
from paimon_operator.core.conditions import MAX_NOTE_BYTES
from paimon_operator.core.ports import Clock, Kind, Manifest
from paimon_operator.errors import AlreadyExistsError, KubernetesError
from paimon_operator.kube.requests import ApiServer, Json
from paimon_operator.kube.resources import RESOURCES

CONTROLLER: Final = "paimon-operator.dev/operator"
"""`reportingController`: must be a qualified name."""
_EVENTS: Final = RESOURCES[Kind.EVENT]
_log = logging.getLogger(__name__)


class KubeEvents:
    """EventSink on a real API server.

    The name contains a hash of the Event's content. The API server itself therefore detects a repetition, also after a
    restart. A name is free again when the API server removes the Event (after an hour by default).
    """

    def __init__(self, server: ApiServer, *, clock: Clock, instance: str) -> None:
        """`instance` is the name of the Pod of this process."""
        self._server, self._clock, self._instance = server, clock, instance[:128]

    async def post(self, regarding: Manifest, *, type_: str, reason: str, note: str) -> None:
        body = self._event(regarding, type_=type_, reason=reason, note=truncated_to_bytes(note, MAX_NOTE_BYTES))
        namespace, name = body["metadata"]["namespace"], body["metadata"]["name"]
        try:
            try:
                await self._server.request("create", _EVENTS.path(namespace), kind=Kind.EVENT, body=body)
            except AlreadyExistsError:
                await self._count_up(namespace, name)
        except KubernetesError as error:
            # A lost Event is no error: the status contains the same information.
            _log.warning("event %s for %s/%s not posted: %s", reason, namespace, regarding["metadata"]["name"], error)

    async def _count_up(self, namespace: str, name: str) -> None:
        path = _EVENTS.path(namespace, name)
        stored = await self._server.request("get", path, kind=Kind.EVENT)
        count = (stored.get("series") or {}).get("count", 1) + 1
        patch = [
            {"op": "test", "path": "/metadata/resourceVersion", "value": stored["metadata"]["resourceVersion"]},
            {"op": "add", "path": "/series", "value": {"count": count, "lastObservedTime": self._now()}},
        ]
        await self._server.request("patch", path, kind=Kind.EVENT, body=patch)

    def _event(self, regarding: Manifest, *, type_: str, reason: str, note: str) -> Json:
        meta = regarding["metadata"]
        digest = hashlib.sha256("\0".join((meta["uid"], type_, reason, note)).encode()).hexdigest()[:16]
        reference = {key: meta[key] for key in ("namespace", "name", "uid", "resourceVersion")}
        return {
            "apiVersion": _EVENTS.api_version,
            "kind": "Event",
            "metadata": {"namespace": meta["namespace"], "name": f"{meta['name'][:200]}.{digest}"},
            "regarding": {"apiVersion": regarding["apiVersion"], "kind": regarding["kind"], **reference},
            "type": type_,
            "reason": reason,
            "note": note,
            "action": reason,
            "eventTime": self._now(),
            "reportingController": CONTROLLER,
            "reportingInstance": self._instance,
        }

    def _now(self) -> str:
        return self._clock.now().strftime("%Y-%m-%dT%H:%M:%S.%fZ")
