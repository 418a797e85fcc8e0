"""Which Pod a token belongs to, from the answer to a TokenReview."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, cast

import pytest

from paimon_operator.core.ports import PodIdentity
from paimon_operator.kube.requests import ApiServer
from paimon_operator.kube.token_review import KEPT_FOR, MOST_KEPT, PATH, TokenReviews
from tests.support.virtual_time import VirtualTime

ACCEPTED: dict[str, Any] = {
    "authenticated": True,
    "audiences": ["paimon-operator"],
    "user": {
        "username": "system:serviceaccount:shop:paimon-spark",
        "extra": {
            "authentication.kubernetes.io/pod-name": ["paimon-observer-lake-1"],
            "authentication.kubernetes.io/pod-uid": ["pod-1"],
        },
    },
}
POD = PodIdentity(namespace="shop", name="paimon-observer-lake-1", uid="pod-1")


class FakeServer:
    """Answers each TokenReview with one status."""

    def __init__(self, status: dict[str, Any]) -> None:
        self.status, self.sent = status, list[dict[str, Any]]()

    async def request(self, verb: str, path: str, *, kind: str, body: dict[str, Any]) -> dict[str, Any]:
        assert (verb, path, kind) == ("create", PATH, "TokenReview")
        self.sent.append(body)
        return {"status": self.status}


def reviews(server: FakeServer, time: VirtualTime | None = None) -> TokenReviews:
    return TokenReviews(cast("ApiServer", server), clock=(time or VirtualTime()).seconds)


async def test_an_accepted_token_is_of_its_pod() -> None:
    server = FakeServer(ACCEPTED)
    assert await reviews(server).pod_of("t") == POD
    assert server.sent[0]["spec"] == {"token": "t", "audiences": ["paimon-operator"]}


def without(*path: str, value: Any = None) -> dict[str, Any]:
    """The accepted answer with another value at a place."""
    status = deepcopy(ACCEPTED)
    place = status
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return status


EXTRA = "authentication.kubernetes.io/pod-uid"
NOT_OURS = {
    "no authentication": without("authenticated", value=False),
    "another audience": without("audiences", value=["https://kubernetes.default.svc"]),
    "an API server that knows no audiences": without("audiences"),
    "a user": without("user", "username", value="jane"),
    "no Pod": without("user", "extra"),
    "two Pods": without("user", "extra", EXTRA, value=["pod-1", "pod-2"]),
    "nothing": {},
}


@pytest.mark.parametrize("status", NOT_OURS.values(), ids=NOT_OURS)
async def test_a_token_is_of_no_pod_with(status: dict[str, Any]) -> None:
    assert await reviews(FakeServer(status)).pod_of("t") is None


async def test_an_answer_is_used_again_for_five_minutes() -> None:
    server, time = FakeServer(ACCEPTED), VirtualTime()
    known = reviews(server, time)
    for seconds, sent in ((0, 1), (KEPT_FOR - 1, 1), (1, 2)):
        time.advance(seconds)
        assert await known.pod_of("t") == POD
        assert len(server.sent) == sent


async def test_a_refusal_is_not_kept_because_the_next_answer_may_be_another() -> None:
    server = FakeServer({})
    known = reviews(server)
    assert await known.pod_of("t") is None
    server.status = ACCEPTED
    assert await known.pod_of("t") == POD


async def test_the_answers_are_bounded_and_the_oldest_is_asked_for_again() -> None:
    server = FakeServer(ACCEPTED)
    known = reviews(server)
    for number in range(MOST_KEPT + 1):
        await known.pod_of(f"t{number}")
    await known.pod_of(f"t{MOST_KEPT}")
    assert len(server.sent) == MOST_KEPT + 1
    await known.pod_of("t0")
    assert len(server.sent) == MOST_KEPT + 2
