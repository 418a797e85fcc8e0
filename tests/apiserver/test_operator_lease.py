"""The leader's Lease, the canary's and the Events on a real API server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
from kubernetes import client as official
from kubernetes import config
from kubernetes.aio.client import ApiClient, Configuration

from paimon_operator.errors import ForbiddenError, LeaseLostError, RetryableError
from paimon_operator.kube.events import KubeEvents
from paimon_operator.kube.heartbeat import Heartbeat
from paimon_operator.kube.lease import DURATION, RENEW_DEADLINE, WORST_CASE, Lease
from paimon_operator.kube.requests import ApiServer as Server
from paimon_operator.kube.resources import LEASES
from paimon_operator.runtime.clock import SystemClock
from tests.apiserver.connected import connected
from tests.cluster.apiserver import ApiServer
from tests.support.virtual_time import VirtualTime

SPACE = "leases"


@pytest.fixture(scope="module")
def admin(api_server: ApiServer) -> Iterator[official.ApiClient]:
    with config.new_client_from_config(str(api_server.kubeconfig)) as api:
        official.CoreV1Api(api).create_namespace({"metadata": {"name": SPACE}})
        yield api
        official.CoreV1Api(api).delete_namespace(SPACE)


@pytest.fixture
async def server(api_server: ApiServer, admin: official.ApiClient) -> AsyncIterator[Server]:
    async with connected(api_server.kubeconfig) as api:
        yield api.server


def candidate(server: Server, name: str, lease: str, clock: VirtualTime) -> Lease:
    return Lease(
        server,
        namespace=SPACE,
        name=lease,
        identity=name,
        clock=clock,
        monotonic=clock.seconds,
        sleep=clock.sleep,
    )


async def holder(server: Server, lease: str) -> str:
    stored = await server.request("get", LEASES.path(SPACE, lease), kind="Lease")
    return str(stored["spec"].get("holderIdentity", ""))


async def test_one_of_two_leads_and_the_other_takes_over_after_its_duration(server: Server) -> None:
    time_a, time_b = VirtualTime(), VirtualTime()
    first, second = candidate(server, "a", "takeover", time_a), candidate(server, "b", "takeover", time_b)
    await first.acquire()
    first.check()
    await second.acquire()  # its clock is on by each pause; nobody renews meanwhile
    assert await holder(server, "takeover") == "b"
    assert sum(time_b.slept) >= DURATION, "taken over before the first one's time was up"
    with pytest.raises(LeaseLostError):
        await first.hold()


async def test_a_leader_that_renews_keeps_others_out(server: Server) -> None:
    clock = VirtualTime()
    first = candidate(server, "a", "renewing", clock)
    await first.acquire()

    async def renew_and_sleep(delay: float) -> None:
        await clock.sleep(delay)
        await first._renew()
        if clock.seconds() > 10 * DURATION:
            raise TimeoutError

    second = Lease(
        server,
        namespace=SPACE,
        name="renewing",
        identity="b",
        clock=clock,
        monotonic=clock.seconds,
        sleep=renew_and_sleep,
    )
    with pytest.raises(TimeoutError):
        await second.acquire()
    assert await holder(server, "renewing") == "a"


async def test_a_released_lease_is_free_at_once(server: Server) -> None:
    first = candidate(server, "a", "released", VirtualTime())
    await first.acquire()
    await first.release()
    with pytest.raises(LeaseLostError):
        first.check()
    clock = VirtualTime()
    await candidate(server, "b", "released", clock).acquire()
    assert clock.slept == []


async def test_a_lease_is_released_after_a_renewal_whose_answer_nobody_waited_for(server: Server) -> None:
    lease = candidate(server, "a", "released-late", VirtualTime())
    await lease.acquire()
    stored = await server.request("get", LEASES.path(SPACE, "released-late"), kind="Lease")
    stored["spec"]["renewTime"] = "2026-11-21T08:00:00.000000Z"
    await server.request("update", LEASES.path(SPACE, "released-late"), kind="Lease", body=stored)
    await lease.release()
    assert await holder(server, "released-late") == ""


async def test_a_lease_that_somebody_else_took_is_not_released(server: Server) -> None:
    first = candidate(server, "a", "not-ours", VirtualTime())
    await first.acquire()
    await candidate(server, "b", "not-ours", VirtualTime()).acquire()
    await first.release()
    assert await holder(server, "not-ours") == "b"


async def test_our_own_lease_from_a_create_without_an_answer_is_taken_up_at_once(server: Server) -> None:
    await candidate(server, "a", "unanswered", VirtualTime()).acquire()
    clock = VirtualTime()
    await candidate(server, "a", "unanswered", clock).acquire()
    assert clock.slept == []


async def test_a_renewal_that_was_stored_without_an_answer_does_not_lose_the_lease(server: Server) -> None:
    lease = candidate(server, "a", "renewal", VirtualTime())
    await lease.acquire()
    stored = await server.request("get", LEASES.path(SPACE, "renewal"), kind="Lease")
    stored["spec"]["renewTime"] = "2026-11-21T08:00:00.000000Z"
    await server.request("update", LEASES.path(SPACE, "renewal"), kind="Lease", body=stored)
    await lease._renew()
    lease.check()


async def test_when_renewing_fails_for_long_the_leader_knows_before_a_follower_may_lead(api_server: ApiServer) -> None:
    clock = VirtualTime()
    async with connected(api_server.kubeconfig, timeout_s=1) as api:
        lease = candidate(api.server, "a", "outage", clock)
        await lease.acquire()
        api.client.configuration.host = "https://127.0.0.1:1"  # from here on nobody answers
        with pytest.raises(LeaseLostError):
            await lease.hold()
    assert clock.seconds() < DURATION


async def test_the_longer_ago_the_renewal_the_less_time_a_change_is_given(server: Server) -> None:
    clock = VirtualTime()
    lease = candidate(server, "a", "time-left", clock)
    await lease.acquire()
    assert lease.check() == DURATION
    await clock.sleep(RENEW_DEADLINE)
    assert lease.check() == DURATION - RENEW_DEADLINE
    await clock.sleep(1)
    with pytest.raises(LeaseLostError):
        lease.check()


async def test_a_change_without_an_answer_is_given_up_before_another_process_may_lead() -> None:
    gone: asyncio.Queue[bytes] = asyncio.Queue()

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        gone.put_nowait(await reader.read())  # to the end of the connection
        writer.close()

    silent = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    told: list[tuple[str, str, int, float]] = []
    client = ApiClient(Configuration(host=f"http://127.0.0.1:{port}"))
    hanging = Server(
        client,
        limiter=None,
        timeout=300,
        observe=lambda *answer: told.append(answer),
        guard=lambda: 2.0,
    )
    with pytest.raises(RetryableError):
        await hanging.request("create", "/api/v1/namespaces/x/pods", kind="Pod", body={})
    assert told == [("create", "Pod", 0, 2.0)]
    assert b"POST /api/v1/namespaces/x/pods" in await gone.get(), "the connection ends with the wait"
    await client.close()
    silent.close()


def test_a_dead_leader_is_replaced_within_30_seconds_and_never_before_it_stops_itself() -> None:
    assert WORST_CASE <= 30
    assert RENEW_DEADLINE < DURATION


async def test_the_canary_sings_with_rights_on_its_name_only(api_server: ApiServer, admin: official.ApiClient) -> None:
    grant(
        admin,
        "canary",
        [
            {
                "apiGroups": ["coordination.k8s.io"],
                "resources": ["leases"],
                "resourceNames": ["c"],
                "verbs": ["patch", "create"],
            }
        ],
    )
    async with connected(api_server.user_kubeconfig("canary")) as api:
        canary = Heartbeat(
            api.server, namespaces=[SPACE], name="c", identity="x", clock=SystemClock(), on_beat=_unheard
        )
        await _once_granted(lambda: canary._renew(SPACE))
        stranger = Heartbeat(
            api.server, namespaces=[SPACE], name="d", identity="x", clock=SystemClock(), on_beat=_unheard
        )
        with pytest.raises(ForbiddenError):
            await stranger._renew(SPACE)
    lease = official.CoordinationV1Api(admin).read_namespaced_lease("c", SPACE)
    first = lease.spec.renew_time
    async with connected(api_server.user_kubeconfig("canary")) as api:
        singing = asyncio.create_task(
            Heartbeat(
                api.server, namespaces=[SPACE], name="c", identity="x", clock=SystemClock(), on_beat=_unheard
            ).run()
        )
        deadline = time.monotonic() + 60
        while official.CoordinationV1Api(admin).read_namespaced_lease("c", SPACE).spec.renew_time == first:
            assert time.monotonic() < deadline, "not renewed"
            await asyncio.sleep(0.05)
        singing.cancel()


async def test_an_event_is_posted_once_and_counted_up_after_that(server: Server, admin: official.ApiClient) -> None:
    core = official.CoreV1Api(admin)
    made = core.create_namespaced_config_map(SPACE, {"metadata": {"name": "noted"}})
    regarding = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "namespace": SPACE,
            "name": "noted",
            "uid": made.metadata.uid,
            "resourceVersion": made.metadata.resource_version,
        },
    }
    for _ in range(3):  # a new process each time: nothing of it is remembered
        events = KubeEvents(server, clock=SystemClock(), instance="operator-1")
        await events.post(regarding, type_="Warning", reason="SecretNotFound", note="Secret lake-s3 does not exist")
    await events.post(regarding, type_="Warning", reason="SecretNotFound", note="é" * 2000)
    seen = core.list_namespaced_event(SPACE, field_selector=f"involvedObject.uid={made.metadata.uid}").items
    counted = {event.message: event.series.count if event.series else 1 for event in seen}
    assert counted.pop("Secret lake-s3 does not exist") == 3
    (cut,) = counted
    assert len(cut.encode()) <= 1024
    assert {event.reporting_component for event in seen} == {"paimon-operator.dev/operator"}


async def test_an_event_that_cannot_be_posted_is_logged_and_hurts_nobody(
    api_server: ApiServer, admin: official.ApiClient, caplog: Any
) -> None:
    regarding = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": SPACE, "name": "p", "uid": "u", "resourceVersion": "1"},
    }
    async with connected(api_server.user_kubeconfig("nobody")) as api:
        events = KubeEvents(api.server, clock=SystemClock(), instance="x")
        await events.post(regarding, type_="Normal", reason="Running", note="at work")
    assert "event Running" in caplog.text


def grant(admin: official.ApiClient, user: str, rules: list[dict[str, Any]]) -> None:
    rbac = official.RbacAuthorizationV1Api(admin)
    rbac.create_namespaced_role(SPACE, {"metadata": {"name": user}, "rules": rules})
    subject = {"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}
    role = {"kind": "Role", "name": user, "apiGroup": "rbac.authorization.k8s.io"}
    rbac.create_namespaced_role_binding(SPACE, {"metadata": {"name": user}, "subjects": [subject], "roleRef": role})


async def _once_granted(act: Callable[[], Awaitable[object]]) -> None:
    """Does it as soon as the API server goes by the role, which takes a moment."""
    deadline = time.monotonic() + 60
    while True:
        try:
            await act()
        except ForbiddenError:
            assert time.monotonic() < deadline, "still forbidden"
            await asyncio.sleep(0.05)
        else:
            return


def _unheard(namespace: str, written: bool) -> None:
    """Nobody waits for the song."""
