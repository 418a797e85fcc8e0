"""One operator whose watches are disturbed, and which is killed at writes, on a real API server.

The workloads are those of `tests/runtime/stale_watches.py`. A round takes half a second instead of twenty virtual ones.
"""

from __future__ import annotations

import itertools
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from paimon_operator.core.ports import Kind, Manifest
from tests.apiserver.forked_operator import ForkedOperator
from tests.apiserver.namespace_client import CATALOGS, RUNS, TABLES, NamespaceClient
from tests.apiserver.pod import Pod
from tests.apiserver.replicas import Replicas
from tests.apiserver.stale_proxy import StaleProxy, stale_proxy
from tests.cluster.apiserver import ApiServer
from tests.runtime.stale_watches import Act
from tests.support import end_state

DISTURBED_ROUNDS: Final = 16
_STEP_S: Final = 0.25
"""Seconds in which the operator, a real process, may react before kubelet and watches go on."""
_RESYNC_S: Final = 2
_CALM_S: Final = 4.0
"""Longer than a resync with its spread: what is to happen has happened."""
_AFTER_A_RUN: Final = 6
"""An act of this round or a later one waits until the first run has been performed, however late that is."""


class _User:
    """Applies and deletes objects in the namespace of the test, whatever namespace a manifest names."""

    def __init__(self, ns: NamespaceClient) -> None:
        self._ns = ns

    def put(self, body: Manifest) -> None:
        is_catalog = body["kind"] == Kind.CATALOG
        plural, name = CATALOGS if is_catalog else TABLES, body["metadata"]["name"]
        spec = body["spec"] | ({"allowedDatabases": ["shop"]} if is_catalog else {})
        if body["kind"] != Kind.RUN and self._ns.find(plural, name) is not None:
            self._ns.patch(plural, name, {"spec": spec})
        else:
            self._ns.create({**body, "spec": spec})

    def delete_as_user(self, kind: Kind, namespace: str, name: str) -> None:
        del kind, namespace
        self._ns.delete(TABLES, name)


class StaleWorld:
    """One operator, its objects, a kubelet and a user, in rounds."""

    def __init__(self, replicas: Replicas, proxy: StaleProxy) -> None:
        self._replicas, self._ns, self._proxy = replicas, replicas.ns, proxy
        self.performed: list[str] = []
        """Type of each run whose driver has ended by itself."""
        self.violations: list[str] = []
        """Pods that ran at once: a workload has one physical table."""

    def run(self, acts: Sequence[tuple[int, Act]], kills: random.Random | None = None) -> None:
        """All acts, in disturbed rounds. With `kills` the operator is ended at some of its writes."""
        self._start()
        left = list(acts)
        for number in itertools.count():
            if number >= DISTURBED_ROUNDS and not left:
                break
            if kills is not None and kills.random() < 1 / 4 and not self._proxy.has_killed:
                self._proxy.arm(self._replicas.newest.kill)
            for at, act in [each for each in left if self._is_due(number, each[0])]:
                act(_User(self._ns))
                left.remove((at, act))
            self._round()
        self._proxy.disarm_if_alive()
        self._proxy.end_disturbance()

    def settle(self, runs: Mapping[str, int]) -> list[end_state.Left]:
        """Waits until these runs were performed and nothing changes any more. Returns the state."""
        self._ns.wait(lambda: self._turn() and self._has_performed(runs), f"the runs {dict(runs)}")
        before, since = self.state(), time.monotonic()
        while time.monotonic() - since < _CALM_S:
            self._turn()
            if (now := self.state()) != before:
                before, since = now, time.monotonic()
        return before

    def state(self) -> list[end_state.Left]:
        """What is left."""
        objects = [end_state.of_object(body) for plural in (TABLES, CATALOGS) for body in self._ns.all(plural)]
        pods = [pod.manifest for pod in self._ns.pods()]
        return [*sorted(objects, key=str), *end_state.of_runs(self._ns.all(RUNS)), *end_state.of_pods(pods)]

    def _is_due(self, number: int, at: int) -> bool:
        return number >= at and (at < _AFTER_A_RUN or bool(self.performed))

    def _has_performed(self, runs: Mapping[str, int]) -> bool:
        done = Counter(self.performed)
        return all(done[type_] >= count for type_, count in runs.items())

    def _round(self) -> None:
        time.sleep(_STEP_S)  # the operator reacts to the acts
        self._turn()
        time.sleep(_STEP_S)  # and to the kubelet, without the late events
        self._proxy.release()

    def _turn(self) -> bool:
        """The kubelet's next step for each Pod. A killed operator has a successor."""
        if self._proxy.has_killed:
            self._start()
        pods = [pod for pod in self._ns.pods() if pod.phase in ("Pending", "Running")]
        self.violations += [f"{a.name} beside {b.name}" for a, b in itertools.combinations(pods, 2)]
        for pod in pods:
            self._drive(pod)
        for pod in [each for each in self._ns.pods() if each.is_terminating and not each.finalizers]:
            self._ns.delete_pod(pod, force=True)
        return True

    def _drive(self, pod: Pod) -> None:
        run = self._ns.find(RUNS, pod.run)
        if pod.is_terminating or run is None:
            self._ns.end_pod(pod, exit_code=143, message="")
        elif pod.phase == "Pending":
            self._ns.run_pod(pod)
        else:
            self.performed.append(str(run["spec"]["type"]))
            self._ns.succeed(pod)

    def _start(self) -> None:
        self._proxy.disarm()
        self._replicas.delete_lease()
        self._replicas.add(resync=str(_RESYNC_S))


@contextmanager
def stale_world(server: ApiServer, namespace: str, dice: random.Random | None, logs: Path) -> Iterator[StaleWorld]:
    """A new namespace whose operator has disturbed watches; without `dice` they are as usual."""
    ns = NamespaceClient(server.kubeconfig, namespace)
    replicas = Replicas(server, ns, logs, process=ForkedOperator)
    with stale_proxy(server, dice) as proxy:
        replicas.rights.kubeconfig = proxy.kubeconfig(replicas.rights.kubeconfig)
        try:
            yield StaleWorld(replicas, proxy)
        finally:
            replicas.close()
            ns.close()
