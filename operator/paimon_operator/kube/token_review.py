"""Which Pod a token belongs to, by a TokenReview of the API server."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from paimon_contract.looks import AUDIENCE
from paimon_operator.core.ports import PodIdentity
from paimon_operator.kube.requests import ApiServer

PATH: Final = "/apis/authentication.k8s.io/v1/tokenreviews"
KEPT_FOR: Final = 300.0
"""Seconds for which an answer is used again. A Pod that is deleted meanwhile is trusted so long."""
MOST_KEPT: Final = 2_000
_POD_NAME: Final = "authentication.kubernetes.io/pod-name"
_POD_UID: Final = "authentication.kubernetes.io/pod-uid"
_ACCOUNT: Final = "system:serviceaccount:"


class TokenReviews:
    """TokenReviewer on a real API server. `clock` is monotonic, in seconds."""

    def __init__(self, server: ApiServer, *, clock: Callable[[], float]) -> None:
        self._server, self._clock = server, clock
        self._known: dict[str, tuple[PodIdentity, float]] = {}
        """Digest of a token -> its Pod, and until when. A dictionary keeps the order of insertion."""

    async def pod_of(self, token: str) -> PodIdentity | None:
        """The Pod that the token is bound to; None for a token that is not valid for the operator."""
        digest, now = hashlib.sha256(token.encode()).hexdigest(), self._clock()
        pod, until = self._known.get(digest, (None, 0.0))
        if pod is not None and now < until:
            return pod
        body = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token, "audiences": [AUDIENCE]},
        }
        answer = await self._server.request("create", PATH, kind="TokenReview", body=body)
        found = _pod(answer.get("status") or {})
        if found is not None:
            self._keep(digest, found, now)
        return found

    def _keep(self, digest: str, pod: PodIdentity, now: float) -> None:
        self._known.pop(digest, None)
        while len(self._known) >= MOST_KEPT:
            del self._known[next(iter(self._known))]
        self._known[digest] = (pod, now + KEPT_FOR)


def _pod(status: Mapping[str, Any]) -> PodIdentity | None:
    user: Mapping[str, Any] = status.get("user") or {}
    extra: Mapping[str, Sequence[str]] = user.get("extra") or {}
    name, uid = _one(extra.get(_POD_NAME)), _one(extra.get(_POD_UID))
    account = str(user.get("username") or "")
    is_ours = status.get("authenticated") is True and AUDIENCE in (status.get("audiences") or ())
    if not is_ours or not name or not uid or not account.startswith(_ACCOUNT):
        return None
    return PodIdentity(namespace=account.removeprefix(_ACCOUNT).partition(":")[0], name=name, uid=uid)


def _one(values: Sequence[str] | None) -> str | None:
    return values[0] if values is not None and len(values) == 1 else None
