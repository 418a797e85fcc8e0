"""The leader's Lease, the heartbeat's Lease and the Events on a real API server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest
from kubernetes import client as official
from kubernetes.aio.client import ApiClient, Configuration

from paimon_operator.errors import ForbiddenError, LeaseLostError, RetryableError
from paimon_operator.kube.events import KubeEvents
from paimon_operator.kube.heartbeat import Heartbeat
from paimon_operator.kube.lease import DURATION, RENEW_DEADLINE, WORST_CASE, Lease
from paimon_operator.kube.requests import ApiServer as Server
from paimon_operator.kube.resources import LEASES
from paimon_operator.runtime.clock import SystemClock
from tests.apiserver.api import Body, as_json, create_namespace, grant, user
from tests.apiserver.connected import close, connected
from tests.cluster.apiserver import ApiServer, open_client
from tests.support.virtual_time import VirtualTime

SPACE = "leases"


@pytest.fixture(scope="module")
def admin(api_server: ApiServer) -> Iterator[official.ApiClient]:
    """An administrator's client, and the namespace `leases`."""
    with open_client(api_server.kubeconfig) as api:
        create_namespace(api, SPACE)
        yield api
        official.CoreV1Api(api).delete_namespace(SPACE)


@pytest.fixture
async def server(api_server: ApiServer, admin: official.ApiClient) -> AsyncIterator[Server]:
    async with connected(api_server.kubeconfig) as api:
        yield api.server


class Said:
    """A note: what this process says, and what it has found."""

    def __init__(self, says: str | None = None) -> None:
        self.says = says
        self.heard: list[str | None] = []

    def found(self, text: str | None) -> None:
        self.heard.append(text)

    def text(self) -> str | None:
        return self.says


def candidate(server: Server, name: str, lease: str, clock: VirtualTime, note: Said | None = None) -> Lease:
    return Lease(
        server,
        namespace=SPACE,
        name=lease,
        identity=name,
        clock=clock,
        monotonic=clock.seconds,
        note=note or Said(),
        sleep=clock.sleep,
    )


async def holder(server: Server, lease: str) -> str:
    stored = await server.request("get", LEASES.path(SPACE, lease), kind="Lease")
    return str(stored["spec"].get("holderIdentity", ""))


async def test_one_of_two_leads_and_the_other_takes_over_after_the_leases_duration(server: Server) -> None:
    time_a, time_b = VirtualTime(), VirtualTime()
    first, second = candidate(server, "a", "takeover", time_a), candidate(server, "b", "takeover", time_b)
    await first.acquire()
    first.check()
    await second.acquire()  # each of its pauses moves its clock on, and the first does not renew
    assert await holder(server, "takeover") == "b"
    assert sum(time_b.slept) >= DURATION, "taken over before the Lease had expired"
    with pytest.raises(LeaseLostError):
        await first.hold()


async def test_a_leader_that_renews_stays_the_leader(server: Server) -> None:
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
        note=Said(),
        sleep=renew_and_sleep,
    )
    with pytest.raises(TimeoutError):
        await second.acquire()
    assert await holder(server, "renewing") == "a"


async def test_a_released_lease_can_be_acquired_at_once(server: Server) -> None:
    first = candidate(server, "a", "released", VirtualTime())
    await first.acquire()
    await first.release()
    with pytest.raises(LeaseLostError):
        first.check()
    clock = VirtualTime()
    await candidate(server, "b", "released", clock).acquire()
    assert clock.slept == []


async def test_a_leader_finds_the_note_of_the_one_before_and_keeps_it_until_it_has_its_own(server: Server) -> None:
    clock, first, second, third = VirtualTime(), Said(), Said(), Said()
    one = candidate(server, "a", "noted", clock, first)
    await one.acquire()
    first.says = "at the end of a"
    await one.release()
    other = candidate(server, "b", "noted", clock, second)
    await other.acquire()
    await other._renew()  # it knows nothing yet
    await other.release()
    await candidate(server, "c", "noted", clock, third).acquire()
    assert (first.heard, second.heard, third.heard) == ([], ["at the end of a"], ["at the end of a"])


async def test_a_lease_is_released_after_a_renewal_without_an_answer(server: Server) -> None:
    lease = candidate(server, "a", "released-late", VirtualTime())
    await lease.acquire()
    stored = await server.request("get", LEASES.path(SPACE, "released-late"), kind="Lease")
    stored["spec"]["renewTime"] = "2026-11-21T08:00:00.000000Z"
    await server.request("update", LEASES.path(SPACE, "released-late"), kind="Lease", body=stored)
    await lease.release()
    assert await holder(server, "released-late") == ""


async def test_a_lease_of_another_process_is_not_released(server: Server) -> None:
    first = candidate(server, "a", "not-ours", VirtualTime())
    await first.acquire()
    await candidate(server, "b", "not-ours", VirtualTime()).acquire()
    await first.release()
    assert await holder(server, "not-ours") == "b"


async def test_our_own_lease_from_a_create_without_an_answer_is_acquired_at_once(server: Server) -> None:
    await candidate(server, "a", "unanswered", VirtualTime()).acquire()
    clock = VirtualTime()
    await candidate(server, "a", "unanswered", clock).acquire()
    assert clock.slept == []


async def test_a_stored_renewal_without_an_answer_does_not_lose_the_lease(server: Server) -> None:
    lease = candidate(server, "a", "renewal", VirtualTime())
    await lease.acquire()
    stored = await server.request("get", LEASES.path(SPACE, "renewal"), kind="Lease")
    stored["spec"]["renewTime"] = "2026-11-21T08:00:00.000000Z"
    await server.request("update", LEASES.path(SPACE, "renewal"), kind="Lease", body=stored)
    await lease._renew()
    lease.check()


async def test_a_leader_that_cannot_renew_stops_before_a_follower_can_lead(api_server: ApiServer) -> None:
    clock = VirtualTime()
    async with connected(api_server.kubeconfig, timeout_s=1) as api:
        lease = candidate(api.server, "a", "outage", clock)
        await lease.acquire()
        api.client.configuration.host = "https://127.0.0.1:1"  # no request is answered from here on
        with pytest.raises(LeaseLostError):
            await lease.hold()
    assert clock.seconds() < DURATION


async def test_the_time_for_a_mutation_shrinks_with_the_age_of_the_renewal(server: Server) -> None:
    clock = VirtualTime()
    lease = candidate(server, "a", "time-left", clock)
    await lease.acquire()
    assert lease.check() == DURATION
    await clock.sleep(RENEW_DEADLINE)
    assert lease.check() == DURATION - RENEW_DEADLINE
    await clock.sleep(1)
    with pytest.raises(LeaseLostError):
        lease.check()


async def test_a_mutation_without_an_answer_is_aborted_before_another_process_can_lead() -> None:
    gone: asyncio.Queue[bytes] = asyncio.Queue()

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        gone.put_nowait(await reader.read())  # to the end of the connection
        writer.close()

    silent = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    observed: list[tuple[str, str, int, float]] = []
    client = ApiClient(Configuration(host=f"http://127.0.0.1:{port}"))
    hanging = Server(
        client,
        limiter=None,
        timeout=300,
        observe=lambda *answer: observed.append(answer),
        guard=lambda: 2.0,
    )
    with pytest.raises(RetryableError):
        await hanging.request("create", "/api/v1/namespaces/x/pods", kind="Pod", body={})
    assert observed == [("create", "Pod", 0, 2.0)]
    assert b"POST /api/v1/namespaces/x/pods" in await gone.get(), "the connection ends with the wait"
    await close(client)
    silent.close()


def test_a_dead_leader_is_replaced_within_30_seconds_and_never_before_it_stops_itself() -> None:
    assert WORST_CASE <= 30
    assert RENEW_DEADLINE < DURATION


async def test_the_heartbeat_needs_rights_only_on_its_own_lease(
    api_server: ApiServer, admin: official.ApiClient
) -> None:
    leases = {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["patch", "create"]}
    grant(admin, SPACE, "canary", user("canary"), [leases | {"resourceNames": ["c"]}])
    async with connected(api_server.user_kubeconfig("canary")) as api:
        own = heartbeat(api.server, "c")
        await _once_granted(lambda: own._renew(SPACE))
        with pytest.raises(ForbiddenError):
            await heartbeat(api.server, "d")._renew(SPACE)
    first = renew_time(admin, "c")
    async with connected(api_server.user_kubeconfig("canary")) as api:
        beating = asyncio.create_task(heartbeat(api.server, "c").run())
        deadline = time.monotonic() + 60
        while renew_time(admin, "c") == first:
            assert time.monotonic() < deadline, "not renewed"
            await asyncio.sleep(0.05)
        beating.cancel()


def heartbeat(server: Server, lease: str) -> Heartbeat:
    return Heartbeat(
        server,
        namespaces=[SPACE],
        name=lease,
        identity="x",
        clock=SystemClock(),
        on_beat=lambda _namespace, _written: None,
    )


def renew_time(admin: official.ApiClient, lease: str) -> str:
    """Returns the time of the Lease's last renewal."""
    spec = as_json(official.CoordinationV1Api(admin).read_namespaced_lease(lease, SPACE))["spec"]
    return str(spec["renewTime"])


async def test_an_event_is_posted_once_and_then_counted(server: Server, admin: official.ApiClient) -> None:
    core = official.CoreV1Api(admin)
    body: Body = {"metadata": {"name": "noted"}}
    metadata = as_json(core.create_namespaced_config_map(SPACE, body))["metadata"]
    regarding = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "namespace": SPACE,
            "name": "noted",
            "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"],
        },
    }
    for _ in range(3):  # a new process each time, which remembers nothing
        events = KubeEvents(server, clock=SystemClock(), instance="operator-1")
        await events.post(regarding, type_="Warning", reason="SecretNotFound", note="Secret lake-s3 does not exist")
    await events.post(regarding, type_="Warning", reason="SecretNotFound", note="é" * 2000)
    seen = core.list_namespaced_event(SPACE, field_selector=f"involvedObject.uid={metadata['uid']}").items
    counted = {event.message or "": event.series.count if event.series else 1 for event in seen}
    assert counted.pop("Secret lake-s3 does not exist") == 3
    (cut,) = counted
    assert len(cut.encode()) <= 1024
    assert {event.reporting_component for event in seen} == {"paimon-operator.dev/operator"}


async def test_an_event_that_cannot_be_posted_is_logged_and_raises_no_error(
    api_server: ApiServer, admin: official.ApiClient, caplog: pytest.LogCaptureFixture
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


async def _once_granted(act: Callable[[], Awaitable[object]]) -> None:
    """Repeats `act` until the API server enforces the new role."""
    deadline = time.monotonic() + 60
    while True:
        try:
            await act()
        except ForbiddenError:
            assert time.monotonic() < deadline, "still forbidden"
            await asyncio.sleep(0.05)
        else:
            return
