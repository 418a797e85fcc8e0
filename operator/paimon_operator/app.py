"""The composition root: creates and connects all parts, and returns the exit code of the process."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import time
import uuid
from collections.abc import Set
from datetime import timedelta
from functools import partial
from importlib import metadata
from typing import Final

from kubernetes.aio.client import ApiClient

from paimon_contract import turns as turns_contract
from paimon_engines.loader import load_engines
from paimon_operator.core.commits.table_claims import TableClaimIndex
from paimon_operator.core.commits.warehouses import WarehouseIndex
from paimon_operator.core.config import Accounts, ObserverFacts, OperatorFacts, SharingFacts
from paimon_operator.core.launch.builder import LaunchBuilder
from paimon_operator.core.launch.pod_security import PodRules
from paimon_operator.core.ports import Kind
from paimon_operator.core.table.budgets import Budgets
from paimon_operator.core.table.run_slots import RunSlots
from paimon_operator.core.validation.catalog import blocking_problems
from paimon_operator.errors import KubernetesError, RetryableError
from paimon_operator.kube.connection import connect, watch_session
from paimon_operator.kube.events import KubeEvents
from paimon_operator.kube.heartbeat import Heartbeat
from paimon_operator.kube.lease import Lease
from paimon_operator.kube.limiter import TokenBucket
from paimon_operator.kube.objects import KubeObjects
from paimon_operator.kube.requests import ApiServer
from paimon_operator.kube.token_review import TokenReviews
from paimon_operator.runtime.batches import Batches
from paimon_operator.runtime.cache import Cache
from paimon_operator.runtime.change_router import ChangeRouter
from paimon_operator.runtime.clock import SystemClock
from paimon_operator.runtime.controllers import controllers
from paimon_operator.runtime.decided_until import DecidedUntil
from paimon_operator.runtime.dependencies import Dependencies
from paimon_operator.runtime.garbage import collect_at_set_times
from paimon_operator.runtime.health import Endpoints, ProcessHealth
from paimon_operator.runtime.keys import Key
from paimon_operator.runtime.leader_loop import LeaderLoop
from paimon_operator.runtime.looks import Looks
from paimon_operator.runtime.looks_server import LooksServer, Receiver
from paimon_operator.runtime.metrics import Metrics
from paimon_operator.runtime.new_tables import NewTables
from paimon_operator.runtime.object_metrics import ObjectMetrics
from paimon_operator.runtime.queue import WorkQueue
from paimon_operator.runtime.reads import Doubts
from paimon_operator.runtime.resync import Resync
from paimon_operator.runtime.turns import TurnRequests
from paimon_operator.runtime.turns_endpoint import TurnGiver, TurnsEndpoint
from paimon_operator.runtime.watch import build_registry, build_settings, run_watches
from paimon_operator.runtime.workers import Reconcile, Workers
from paimon_operator.settings import Settings

_LEASE_TIMEOUT: Final = 4.0
"""Seconds. After two renewals without a response, there is time for a third before the Lease counts as lost."""
_RETRY: Final = 2.0
"""Seconds between two attempts to read the identity of the cluster."""
_REVIEWS: Final = 5.0
"""TokenReviews per second. An answer is used for five minutes."""
_log = logging.getLogger(__name__)


async def run(settings: Settings) -> int:
    """Runs the operator until it ends and returns the exit code: 0 after SIGTERM, else 1."""
    client = await connect()
    try:
        return await Operator(settings, client).run()
    finally:
        await client.close()  # type: ignore[no-untyped-call]


class Operator:
    """One operator process, from waiting for the Lease to its end."""

    def __init__(self, settings: Settings, client: ApiClient) -> None:
        self._settings, self._client = settings, client
        self._identity = f"{os.environ.get('POD_NAME') or os.uname().nodename}_{uuid.uuid4()}"
        self._clock, self._stop = SystemClock(), asyncio.Event()
        self._metrics = Metrics(version=metadata.version("paimon-operator"))
        self._health = ProcessHealth(clock=time.monotonic)
        self._turns = TurnsEndpoint()
        self._looks = LooksServer(port=settings.looks_port, beside={turns_contract.PATH: self._turns.handle})
        self._metrics.watches(heartbeat_age=lambda: self._health.heartbeat_age)
        # Requests for Leases never wait behind other requests.
        self._unpaced = ApiServer(client, limiter=None, timeout=_LEASE_TIMEOUT, observe=self._metrics.requested)
        namespaces = settings.watch_namespaces
        self._decided = DecidedUntil(self._clock, monotonic=time.monotonic, namespaces=namespaces)
        self._lease = Lease(
            self._unpaced,
            namespace=settings.lease_namespace,
            name=settings.lease_name,
            identity=self._identity,
            clock=self._clock,
            monotonic=time.monotonic,
            note=self._decided,
        )

    async def run(self) -> int:
        """Runs the process and returns its exit code. The endpoints respond from the start, also on a follower."""
        self._take_signals()
        ports = {"health_port": self._settings.health_port, "metrics_port": self._settings.metrics_port}
        endpoints = Endpoints(self._health, self._metrics, **ports)
        await endpoints.start()
        if self._observer is not None or self._sharing is not None:
            await self._looks.start()
        collecting = asyncio.create_task(collect_at_set_times(), name="garbage")
        try:
            self._health.standby()
            acquiring = asyncio.create_task(self._lease.acquire())
            stopping = asyncio.create_task(self._stop.wait())
            await asyncio.wait({acquiring, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not acquiring.done():
                acquiring.cancel()
                return 0
            acquiring.result()
            return await self._lead()
        finally:
            collecting.cancel()
            await self._looks.stop()
            await endpoints.stop()

    async def _lead(self) -> int:
        self._metrics.leading(True)
        holding = asyncio.create_task(self._lease.hold(), name="lease")
        working = asyncio.create_task(self._work(), name="work")
        await asyncio.wait({holding, working}, return_when=asyncio.FIRST_COMPLETED)
        if holding.done():
            _log.error("ending at once, another process may lead by now: %s", holding.exception())
            working.cancel()
            return 1
        holding.cancel()
        await self._lease.release()
        if (error := working.exception()) is not None:
            _log.error("ending: %s", error, exc_info=error)
            return 1
        return 0

    @property
    def _observer(self) -> ObserverFacts | None:
        url, interval = self._settings.looks_url, int(self._settings.looks_interval)
        return ObserverFacts(url=url, interval_s=interval) if url else None

    @property
    def _sharing(self) -> SharingFacts | None:
        url, window = self._settings.turns_url, self._settings.batch_window
        return SharingFacts(url=url, window_s=window) if url else None

    async def _work(self) -> None:
        settings, engines = self._settings, load_engines()
        missing = {name: "no Spark image is configured for it" for name in engines if name not in settings.spark_images}
        facts = OperatorFacts(
            engines=engines,
            default_engine=settings.default_engine,
            cluster_id=settings.cluster_id or await self._kube_system_uid(),
            unavailable_engines=missing,
            accounts=Accounts(driver=settings.driver_account, executor=settings.executor_account),
            executor_timeout_s=int(settings.executor_timeout),
            observe_interval=timedelta(seconds=settings.observe_interval),
            claims_allowed=settings.allow_claims,
            observer=self._observer,
        )
        launches = LaunchBuilder(
            operator=facts,
            images=settings.spark_images,
            pull_policy=settings.image_pull_policy,
            cpu_share=settings.driver_cpu_share,
            pending_timeout=settings.pending_timeout,
            rules=PodRules(uid=settings.spark_uid, cpu_limits=settings.spark_cpu_limits),
        )
        await self._assemble(launches).run(self._stop)

    def _assemble(self, launches: LaunchBuilder) -> LeaderLoop:
        settings, loop = self._settings, asyncio.get_running_loop()
        doubts = Doubts()
        queue: WorkQueue[Key] = WorkQueue(
            namespace_of=lambda key: key.namespace, clock=loop.time, call_later=loop.call_later, on_late=doubts.late
        )
        self._decided.lead(queue)
        dependencies = self._dependencies(launches.operator, queue, doubts)
        reconcile = controllers(dependencies, launches, metrics=self._metrics.runs, on_bug=self._metrics.bug_caught)
        self._answer(dependencies)
        self._metrics.queue(depth=lambda: queue.depth, oldest_age=lambda: queue.oldest_age)
        self._metrics.new_tables(waiting=lambda: dependencies.new_tables.waiting)
        self._metrics.objects(self._object_metrics(dependencies))
        store, router = dependencies.store, dependencies.router
        period, identity = settings.resync_period, self._identity
        on_namespaces = partial(self._keep_namespaces, dependencies)
        return LeaderLoop(
            resync=Resync(store, router, period=period, identity=identity, on_namespaces=on_namespaces),
            workers=self._workers(queue, reconcile, doubts),
            queue=queue,
            health=self._health,
            on_listed=self._decided.listed,
            heartbeat=self._heartbeat().run,
            watch=partial(self._watch, router),
        )

    def _object_metrics(self, world: Dependencies) -> ObjectMetrics:
        return ObjectMetrics(
            world.cache,
            table_limit=self._settings.table_metrics_limit,
            now=time.time,
            decided=world.decided,
            deferred=world.deferred,
        )

    def _keep_namespaces(self, world: Dependencies, live: Set[str]) -> None:
        """Forgets the namespaces without an object, and those that no new table has loaded lately."""
        world.slots.keep_namespaces(live)
        world.new_tables.forget_idle()
        self._metrics.runs.keep_namespaces(live)

    def _workers(self, queue: WorkQueue[Key], reconcile: Reconcile, doubts: Doubts) -> Workers:
        return Workers(
            queue,
            reconcile,
            count=self._settings.workers,
            clock=time.monotonic,
            measure=self._metrics.reconciled,
            on_error=doubts.failed,
        )

    def _answer(self, world: Dependencies) -> None:
        """Answers observers and drivers of shared Pods from now on, because this process leads."""
        reviewer = TokenReviews(self._reviews(), clock=time.monotonic)
        self._looks.lead(Receiver(looks=world.looks, reviewer=reviewer, clock=self._clock))
        on_answer = self._metrics.turn_answered
        giver = TurnGiver(turns=world.turns, batches=world.batches, reviewer=reviewer, on_answer=on_answer)
        self._turns.lead(giver)

    def _batches(self, store: KubeObjects, queue: WorkQueue[Key]) -> Batches:
        return Batches(
            store,
            facts=self._sharing,
            clock=self._clock,
            call_later=asyncio.get_running_loop().call_later,
            enqueue=queue.add,
            on_created=self._metrics.pod_shared,
        )

    def _dependencies(self, operator: OperatorFacts, queue: WorkQueue[Key], doubts: Doubts) -> Dependencies:
        (store, events), (slots, budgets) = self._store_and_events(), self._limits()
        cache, warehouses = Cache(), WarehouseIndex()
        claims = TableClaimIndex(lambda catalog: not blocking_problems(catalog, operator))
        batches = self._batches(store, queue)
        routing = partial(ChangeRouter, on_heartbeat=self._on_heartbeat, on_shared_pod=batches.observe)
        router = routing(cache, claims, warehouses, slots, queue, budgets=budgets)
        return Dependencies(
            store=store,
            events=events,
            cache=cache,
            claims=claims,
            warehouses=warehouses,
            slots=slots,
            budgets=budgets,
            router=router,
            looks=self._known_looks(cache, router),
            batches=batches,
            turns=TurnRequests(enqueue=queue.add),
            doubts=doubts,
            new_tables=self._new_tables(cache),
            operator=operator,
            clock=self._clock,
            decided=self._decided,
        )

    def _store_and_events(self) -> tuple[KubeObjects, KubeEvents]:
        """The objects and the Events of the API server, behind one rate limit."""
        server = self._paced()
        store = KubeObjects(server, namespaces=self._settings.watch_namespaces)
        return store, KubeEvents(server, clock=self._clock, instance=self._identity)

    def _new_tables(self, cache: Cache) -> NewTables:
        return NewTables(cache, rate=self._settings.new_tables_rate, clock=asyncio.get_running_loop().time)

    def _limits(self) -> tuple[RunSlots, Budgets]:
        runs, pod_hours = self._settings.max_concurrent_runs, self._settings.maintenance_pod_hours_per_day
        return RunSlots(runs or None), Budgets(pod_hours or None)

    def _known_looks(self, cache: Cache, router: ChangeRouter) -> Looks:
        interval_s = int(self._settings.looks_interval)
        return Looks(cache, interval_s=interval_s, clock=self._clock, enqueue=router.enqueue_after)

    def _heartbeat(self) -> Heartbeat:
        settings = self._settings
        return Heartbeat(
            self._unpaced,
            namespaces=settings.watch_namespaces or (settings.lease_namespace,),
            name=self._heartbeat_lease,
            identity=self._identity,
            clock=self._clock,
            on_beat=self._health.on_renewal,
        )

    def _paced(self) -> ApiServer:
        settings, loop = self._settings, asyncio.get_running_loop()
        rate, burst = settings.api_rate, settings.api_burst
        bucket = TokenBucket(
            rate=rate, burst=burst, clock=loop.time, call_later=loop.call_later, on_wait=self._metrics.paced
        )
        return self._limited(bucket)

    def _reviews(self) -> ApiServer:
        """For reviews of tokens, with a rate of their own: wrong tokens delay nothing else."""
        loop = asyncio.get_running_loop()
        return self._limited(TokenBucket(rate=_REVIEWS, burst=20, clock=loop.time, call_later=loop.call_later))

    def _limited(self, bucket: TokenBucket) -> ApiServer:
        observe, guard, timeout = self._metrics.requested, self._lease.check, self._settings.request_timeout
        return ApiServer(self._client, limiter=bucket, timeout=timeout, observe=observe, guard=guard)

    @property
    def _heartbeat_lease(self) -> str:
        return f"{self._settings.lease_name}-canary"

    def _on_heartbeat(self, namespace: str) -> None:
        self._health.on_heartbeat(namespace)
        self._metrics.count_heartbeat()

    async def _watch(self, router: ChangeRouter, stop: asyncio.Event) -> None:
        await run_watches(
            build_registry(router, partial(watch_session, self._client)),
            build_settings(heartbeat=self._heartbeat_lease, request_timeout=self._settings.request_timeout),
            namespaces=self._settings.watch_namespaces,
            stop=stop,
            take_signals=self._take_signals,
        )

    async def _kube_system_uid(self) -> str:
        """UID of the namespace kube-system, which is unique per cluster. Waits until the API server responds."""
        store = KubeObjects(self._unpaced, namespaces=())
        while True:
            try:
                namespace = await store.get(Kind.NAMESPACE, "", "kube-system")
            except RetryableError as error:
                _log.warning("namespace kube-system cannot be read, trying again: %s", error)
                await asyncio.sleep(_RETRY)
                continue
            if namespace is None:
                raise KubernetesError("there is no namespace kube-system; set PAIMON_OPERATOR_CLUSTER_ID instead")
            return str(namespace["metadata"]["uid"])

    def _take_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
