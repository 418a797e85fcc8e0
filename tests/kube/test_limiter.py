"""The rate limit of requests on a virtual clock: the rate, and the turns of the namespaces."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from paimon_operator.kube.limiter import TokenBucket
from tests.support.virtual_time import VirtualTime

BACKLOG = 5000


class Pace:
    """Requests behind a token bucket with a virtual clock, and those that were sent."""

    def __init__(self, *, rate: float = 20, burst: int = 1) -> None:
        self.time = VirtualTime()
        self.sent: list[str] = []
        self.waits: list[float] = []
        self.bucket = TokenBucket(
            rate=rate,
            burst=burst,
            clock=self.time.seconds,
            call_later=self.time.call_later,
            on_wait=self.waits.append,
        )

    def request(self, namespace: str = "shop", *, count: int = 1) -> asyncio.Task[None]:
        """Starts requests, and returns the last one."""
        return [asyncio.create_task(self._send(namespace)) for _ in range(count)][-1]

    async def _send(self, namespace: str) -> None:
        await self.bucket.take(namespace)
        self.sent.append(namespace)

    async def sent_after(self, seconds: float) -> int:
        """How many requests were sent, in all, `seconds` from now."""
        await settle()
        self.time.advance(seconds)
        await settle()
        return len(self.sent)

    async def sent_until(self, request: asyncio.Task[None]) -> list[str]:
        """The namespaces of the requests that are sent from now until `request` is, in their order."""
        before = await self.sent_after(0)
        while not request.done():
            await self.sent_after(0.01)
        return self.sent[before:]


async def settle() -> None:
    """Lets every task that can continue do so: it starts, is admitted and ends."""
    for _ in range(4):
        await asyncio.sleep(0)


async def test_the_wait_of_each_request_that_is_sent_is_measured() -> None:
    pace = Pace(rate=20, burst=1)
    pace.request(count=2)
    cancelled = pace.request()
    await pace.sent_after(0)
    cancelled.cancel()
    await pace.sent_after(0.05)
    pace.bucket.hold(7)
    pace.request()
    await pace.sent_after(7)
    assert [round(wait, 3) for wait in pace.waits] == [0, 0.05, 7]


async def test_a_burst_is_sent_at_once_and_further_requests_at_the_rate() -> None:
    pace = Pace(rate=20, burst=40)
    pace.request(count=43)
    assert [await pace.sent_after(seconds) for seconds in (0, 0.04, 0.02, 0.05, 0.05)] == [40, 40, 41, 42, 43]


async def test_the_bucket_refills_over_time_up_to_one_burst() -> None:
    pace = Pace(rate=20, burst=2)
    pace.request(count=4)
    assert [await pace.sent_after(seconds) for seconds in (0, 0.11)] == [2, 4]
    pace.request()
    assert [await pace.sent_after(seconds) for seconds in (0, 0.05)] == [4, 5]
    assert await pace.sent_after(3600) == 5
    pace.request(count=3)
    assert [await pace.sent_after(seconds) for seconds in (0, 0.04, 0.02)] == [7, 7, 8]


async def test_unlimited_demand_does_not_exceed_the_rate_over_ten_minutes() -> None:
    pace = Pace(rate=20, burst=40)
    pace.request(count=100)
    for _ in range(600):
        pace.request(count=20)
        await pace.sent_after(1)
    assert len(pace.sent) in (600 * 20 + 40, 600 * 20 + 39)


async def test_a_retry_after_delays_every_request() -> None:
    pace = Pace(rate=20, burst=40)
    pace.bucket.hold(7)
    pace.request("shop")
    pace.request("web")
    assert [await pace.sent_after(seconds) for seconds in (0, 6.9, 0.2)] == [0, 0, 2]


async def test_a_retry_after_delays_requests_that_wait_already() -> None:
    pace = Pace(rate=20, burst=1)
    pace.request(count=2)
    assert await pace.sent_after(0) == 1
    pace.bucket.hold(7)
    assert [await pace.sent_after(seconds) for seconds in (6.9, 0.2)] == [1, 2]


async def test_after_a_retry_after_half_as_many_are_sent_without_a_burst() -> None:
    pace = Pace(rate=20, burst=40)
    pace.bucket.hold(2)
    pace.bucket.hold(2)  # the answer to another request of the same burst
    pace.request(count=99)
    assert [await pace.sent_after(seconds) for seconds in (1.99, 0.02, 0.1, 0.1)] == [0, 1, 2, 3]


async def test_requests_that_are_not_refused_get_faster_until_the_rate() -> None:
    pace = Pace(rate=20, burst=1)
    for _ in range(9):
        pace.bucket.hold(1)
        await pace.sent_after(1)
    pace.request(count=5000)
    first = await pace.sent_after(5)
    assert 5 <= first <= 6, "one a second, and a little more each time"
    await pace.sent_after(120)
    before = await pace.sent_after(0)
    assert await pace.sent_after(10) - before == 200


async def test_a_shorter_retry_after_does_not_shorten_a_longer_one() -> None:
    pace = Pace(rate=20, burst=40)
    pace.bucket.hold(7)
    pace.bucket.hold(1)
    pace.request()
    assert [await pace.sent_after(seconds) for seconds in (6.9, 0.2)] == [0, 1]


async def test_a_request_is_sent_after_at_most_one_of_a_namespace_with_a_backlog() -> None:
    pace = Pace()
    pace.request("large", count=BACKLOG)
    await pace.sent_after(1)
    assert await pace.sent_until(pace.request("small")) in (["small"], ["large", "small"])


async def test_each_of_several_requests_in_a_row_is_sent_after_at_most_one_of_a_backlog() -> None:
    pace = Pace()
    pace.request("large", count=BACKLOG)
    for _ in range(20):
        assert (await pace.sent_until(pace.request("small"))).count("large") <= 1


async def test_namespaces_with_backlogs_and_requests_without_a_namespace_share_the_rate_equally() -> None:
    pace = Pace()
    for namespace in ("a", "b", ""):
        pace.request(namespace, count=BACKLOG)
    await pace.sent_after(16)
    assert Counter(pace.sent[1:301]) == {"a": 100, "b": 100, "": 100}


async def test_a_retry_after_changes_no_turn() -> None:
    pace = Pace()
    pace.request("large", count=BACKLOG)
    await pace.sent_after(1)
    small = pace.request("small")
    pace.bucket.hold(7)
    assert (await pace.sent_until(small)).count("large") <= 1


async def test_a_cancelled_request_gives_its_place_to_the_next_one() -> None:
    pace = Pace()
    pace.request()
    await settle()
    cancelled = pace.request()
    pace.request()
    await settle()
    cancelled.cancel()
    assert [await pace.sent_after(seconds) for seconds in (0, 0.06)] == [1, 2]
    assert cancelled.cancelled()


async def test_a_request_that_is_cancelled_right_after_its_admission_gives_back_its_token() -> None:
    pace = Pace()
    pace.request()
    await settle()
    cancelled = pace.request()
    pace.request()
    await settle()
    pace.time.advance(0.05)  # admitted, but its task has not continued yet
    cancelled.cancel()
    assert await pace.sent_after(0) == 2
    assert cancelled.cancelled()


async def test_a_request_whose_token_comes_right_after_its_cancellation_gives_back_the_token() -> None:
    pace = Pace()
    pace.request()
    await settle()
    cancelled = pace.request()
    pace.request()
    await settle()
    cancelled.cancel()
    pace.time.advance(0.05)
    assert await pace.sent_after(0) == 2
    assert cancelled.cancelled()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("request"), st.sampled_from(("a", "b", "c", "")), st.just(0)),
        st.tuples(st.just("cancel"), st.just(""), st.integers(0, 20)),
        st.tuples(st.sampled_from(("pass", "hold")), st.just(""), st.integers(1, 3)),
    ),
    max_size=60,
)


class CheckedPace:
    """Requests at one per second, and what must be true of each that is sent."""

    def __init__(self) -> None:
        self.pace = Pace(rate=1, burst=2)
        self.waiting: list[tuple[str, asyncio.Task[None]]] = []
        self.passed: dict[str, Counter[str]] = defaultdict(Counter)
        """For each namespace that waits: the requests of each other namespace that went first."""
        self.requested = self.cancelled = self.checked = 0

    async def step(self, action: str, namespace: str, number: int) -> None:
        if action == "request":
            self.waiting.append((namespace, self.pace.request(namespace)))
            self.requested += 1
        elif action == "cancel" and self.waiting:
            self.waiting[number % len(self.waiting)][1].cancel()
            self.cancelled += 1
        elif action == "hold":
            self.pace.bucket.hold(number)
        elif action == "pass":
            self.pace.time.advance(number)
        await settle()
        for sent in self.pace.sent[self.checked :]:
            self.check(sent)
        self.waiting = [each for each in self.waiting if not each[1].done()]
        for gone in self.passed.keys() - {each for each, _ in self.waiting}:
            del self.passed[gone]

    def check(self, sent: str) -> None:
        self.checked += 1
        assert self.checked <= 2 + self.pace.time.seconds(), "more requests than tokens"
        self.waiting.remove(next(each for each in self.waiting if each[0] == sent and not each[1].cancelled()))
        self.passed.pop(sent, None)
        for other in {namespace for namespace, task in self.waiting if not task.cancelled()} - {sent}:
            self.passed[other][sent] += 1
            assert self.passed[other][sent] == 1, f"{other} starves"


@given(STEPS)
def test_no_request_is_lost_none_exceeds_the_rate_and_no_namespace_starves(
    steps: Sequence[tuple[str, str, int]],
) -> None:
    async def work() -> None:
        checked = CheckedPace()
        for step in steps:
            await checked.step(*step)
        for _ in range(300):
            await checked.step("pass", "", 1)
        assert not checked.waiting, "requests were lost"
        assert checked.checked == checked.requested - checked.cancelled

    asyncio.run(work())
