"""Two tenants of one operator on a real API server: `shop` is the victim, `rival` attacks. Tests play the kubelet."""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from kubernetes import client
from kubernetes.client.exceptions import NotFoundException

from tests.apiserver.api import Body, as_json
from tests.apiserver.attacks.attack import Actor, Scope
from tests.apiserver.attacks.attacker import Attacker
from tests.apiserver.attacks.installation import Installation
from tests.apiserver.namespace_client import CATALOGS, RUNS, TABLES, NamespaceClient, conditions
from tests.apiserver.operator_process import OperatorProcess
from tests.apiserver.pod import Pod
from tests.cluster.apiserver import ApiServer
from tests.support.manifests import REMOVED, Manifest, catalog, edited, keyed_table, run

VICTIM: Final = "payroll"
"""The PaimonTable of the victim. Its physical table is shop.orders."""
SCRATCH: Final = "scratch"
"""Another table of the victim, on which runs may start."""
VAULT: Final = "vault"
"""The catalog of the victim."""
NIGHTLY: Final = "nightly"
"""A run of the victim that is active during all attacks."""
HADOOP_CONF: Final = "hadoop-conf"
SECRET: Final = "lake-s3"
LARGEST: Final = {"modes": ["Local"], "driver": {"cores": 2, "memory": "4Gi"}}
MAX_RUNS: Final = 6
"""limits.maxConcurrentRuns of the operator."""
PENDING_S: Final = 14
"""How long a Pod may be pending: longer than any attempt leaves one so."""


class VictimHarmedError(AssertionError):
    """What the victim may do has changed by an attack."""


class Bed:
    """The operator process, the two namespaces and the attackers."""

    def __init__(self, server: ApiServer, logs: Path) -> None:
        self.home = NamespaceClient(server.kubeconfig, "tenants-operator")
        self.shop = NamespaceClient(server.kubeconfig, "shop", exists=True)
        self.rival = NamespaceClient(server.kubeconfig, "rival")
        self.idle = NamespaceClient(server.kubeconfig, "idle")
        tenants = [each.namespace for each in (self.shop, self.rival, self.idle)]
        self.chart = Installation(server, self.home, tenants)
        self.attackers = self.chart.attackers({Scope.SHOP: self.shop, Scope.RIVAL: self.rival})
        self.operator = OperatorProcess(
            self.chart.kubeconfig,
            logs,
            namespaces=tenants,
            lease_namespace=self.home.namespace,
            max_concurrent_runs=str(MAX_RUNS),
            pod_pending_timeout=str(PENDING_S),
        )
        self.policies = False
        self.baseline: dict[str, Any] = {}
        self._numbers = itertools.count(1)

    def start(self) -> None:
        """Starts the operator and creates the objects of both tenants."""
        self.operator.start().wait_until_working()
        _create_secret(self.shop)
        self._create_tenants()
        self.nightly = self._start_nightly()
        self.baseline = self.state()

    def enforce(self, *, policies: bool) -> None:
        """Switches all admission policies on or off, and waits until the API server has noticed."""
        self.chart.enforce(policies=policies)
        self.policies = policies
        self.home.wait(self._is_enforced if policies else self._is_not_enforced, f"policies: {policies}")

    def close(self) -> None:
        """Ends the operator. The server ends with all objects."""
        self.operator.__exit__(None, None, None)

    def fresh(self, stem: str) -> str:
        """A name that no object has had."""
        return f"{stem}-{next(self._numbers)}"

    def clean(self, me: Attacker) -> None:
        """Deletes what the attacker has made, and waits until the operator has released all of it."""
        ns = self.shop if me.namespace == self.shop.namespace else self.rival
        made, names = [*reversed(me.made)], {name for _, name in me.made}
        for plural, name in made:
            with contextlib.suppress(NotFoundException):
                ns.delete(plural, name)
        ns.wait(lambda: not any(ns.find(*each) for each in made) and _has_nothing_of(ns, names), f"{names} deleted")
        me.made.clear()

    def state(self, own: Attacker | None = None) -> dict[str, Any]:
        """Everything of the victim with its versions, without what the attacker `own` has made."""
        made = {name for _, name in own.made} if own else set()
        tables = [each for each in self.shop.all(TABLES) if each["metadata"]["name"] not in {SCRATCH, *made}]
        runs = [each for each in self.shop.all(RUNS) if not _belongs_to(each, made)]
        pods = [pod.manifest for pod in self.shop.pods() if not {pod.run, pod.table} & made]
        maps = self.shop.core.list_namespaced_config_map(self.shop.namespace, label_selector="bed=tenants").items
        kinds = {TABLES: tables, RUNS: runs, "pods": pods, "configmaps": [as_json(each) for each in maps]}
        found: dict[str, Any] = {
            f"{plural}/{each['metadata']['name']}": _version(each) for plural, items in kinds.items() for each in items
        }
        return found | {f"{CATALOGS}/{each['metadata']['name']}": _lasting(each) for each in self.shop.all(CATALOGS)}

    def table_of(self, ns: NamespaceClient, name: str, **edits: object) -> Manifest:
        """The manifest of a table without writes; without edits it names the victim's physical table."""
        lake = "lake" if ns is self.rival else VAULT
        usual = {"spec__table": "orders", "spec__catalogRef__name": lake, "spec__writes": REMOVED}
        return edited(keyed_table(**usual), metadata__name=name, **edits)

    def rivals(self, name: str, **edits: object) -> Manifest:
        """The manifest of a table of the rival, which names the victim's physical table."""
        return self.table_of(self.rival, name, **edits)

    def rival_catalog(self, name: str, **edits: object) -> Manifest:
        """The manifest of a catalog of the rival with the victim's warehouse."""
        return catalog(metadata__name=name, spec__allowedDatabases=["shop", "rival"], **edits)

    def run_of(self, name: str, table: str = SCRATCH, **edits: object) -> Manifest:
        """The manifest of a compaction."""
        return run(metadata__name=name, spec__tableRef__name=table, **edits)

    @contextlib.contextmanager
    def bystander(self) -> Iterator[str]:
        """A Pod of an application of the victim."""
        body: Body = {"metadata": {"name": "bystander"}, "spec": {"containers": [{"name": "app", "image": "app:1"}]}}
        self.shop.core.create_namespaced_pod(self.shop.namespace, body)
        yield "bystander"
        self.shop.core.delete_namespaced_pod("bystander", self.shop.namespace, grace_period_seconds=0)

    def provide(self, ns: NamespaceClient, manifest: Manifest) -> None:
        """Creates a table and makes it Ready."""
        name = manifest["metadata"]["name"]
        ns.create(manifest)
        ns.succeed(ns.wait_for_pod(of=name))
        ns.wait_for_condition(TABLES, name, "Ready", "True", "TableMatchesSpec")

    def require_new_table(self, ns: NamespaceClient | None = None) -> None:
        """The victim (or another tenant) creates a table. Raises VictimHarmedError unless it becomes Ready."""
        self.require_table(self.fresh("next").replace("-", "_"), ns)

    def require_table(self, table: str, ns: NamespaceClient | None = None) -> None:
        """The victim creates a PaimonTable for `table`. Raises VictimHarmedError unless it becomes Ready."""
        where, name = ns or self.shop, self.fresh("new")
        where.create(self.table_of(where, name, spec__table=table))
        try:
            pod, obstacle = where.wait(lambda: _pod_or_obstacle(where, name), f"a Pod of {name}, or why it has none")
            if pod is None:
                raise VictimHarmedError(obstacle)
            where.succeed(pod)
            where.wait_for_condition(TABLES, name, "Ready", "True", "TableMatchesSpec")
        finally:
            where.delete(TABLES, name)
            where.wait(lambda: where.find(TABLES, name) is None and _has_nothing_of(where, {name}), f"{name} deleted")

    def job_of(self, ns: NamespaceClient, pod: Pod) -> Manifest:
        """The job that the Pod mounts."""
        data = ns.core.read_namespaced_config_map(pod.config_map, ns.namespace).data or {}
        job: Manifest = json.loads(data["job.json"])
        return job

    def require_claimed(self, name: str) -> None:
        """The rival's table is told that it is another namespace's, and no more."""
        stalled = self.rival.wait_for_condition(TABLES, name, "Stalled", "True", "TableClaimed")
        assert "a PaimonTable of another namespace manages the same table" in stalled["message"]

    def _create_tenants(self) -> None:
        self.shop.create(
            catalog(metadata__name=VAULT, spec__allowedDatabases=["shop"], spec__limits={"spark": LARGEST})
        )
        self.idle.create(catalog(metadata__name=VAULT, spec__warehouse="s3://idle/w", spec__allowedDatabases=["shop"]))
        self.rival.create(self.rival_catalog("lake"))
        self.rival.create(edited(self.rival_catalog("closed"), spec__allowedDatabases=["rival"]))
        body: Body = {"metadata": {"name": HADOOP_CONF, "labels": {"bed": "tenants"}}, "data": {"core-site.xml": ""}}
        self.shop.core.create_namespaced_config_map(self.shop.namespace, body)
        self.provide(self.shop, self.table_of(self.shop, VICTIM))
        self.provide(self.shop, self.table_of(self.shop, SCRATCH, spec__table=SCRATCH))
        self.provide(self.rival, self.rivals("own", spec__table="own", spec__database="rival"))

    def _start_nightly(self) -> Pod:
        self.shop.create(self.run_of(NIGHTLY, VICTIM))
        pod = self.shop.wait_for_pod(of=VICTIM)
        self.shop.run_pod(pod)
        self.shop.wait(lambda: self.shop.get(RUNS, NIGHTLY)["status"]["phase"] == "Running", "the nightly run")
        return self.shop.read_pod(pod)

    def _is_enforced(self) -> bool:
        return all("denied request" in message for message in self._probes())

    def _is_not_enforced(self) -> bool:
        return not any("denied request" in message for message in self._probes())

    def _probes(self) -> list[str]:
        """What the three kinds of policies say to requests that RBAC admits."""
        pod: Body = {"metadata": {"name": "probe"}, "spec": {"containers": [{"name": "a", "image": "b"}]}}
        asked = self.attackers[Scope.SHOP, Actor.RUNS].create(self.run_of("probe"), dry=True)
        tokens = ((Scope.SHOP, Actor.OPERATOR), (Scope.RIVAL, Actor.DRIVER))
        return [asked.message, *(self.attackers[each].create_pod(pod, dry=True).message for each in tokens)]


def _create_secret(ns: NamespaceClient) -> None:
    ns.core.create_namespaced_secret(ns.namespace, client.V1Secret(metadata={"name": SECRET}))


def _pod_or_obstacle(ns: NamespaceClient, name: str) -> tuple[Pod | None, str] | None:
    """The table's Pod, or what keeps it from a run."""
    found = conditions(ns.get(TABLES, name))
    stalled, reconciling = (found.get(each, {}) for each in ("Stalled", "Reconciling"))
    if stalled.get("status") == "True":
        return None, str(stalled["message"])
    if reconciling.get("reason") == "RunLimitReached":
        return None, str(reconciling["message"])
    pod = next((pod for pod in ns.pods() if pod.is_active and pod.table == name), None)
    return None if pod is None else (pod, "")


def _belongs_to(run: Manifest, names: set[str]) -> bool:
    return bool({run["metadata"]["name"], run["spec"]["tableRef"]["name"]} & names)


def _has_nothing_of(ns: NamespaceClient, names: set[str]) -> bool:
    """Whether no run and no Pod of these tables or runs is left."""
    return not any(_belongs_to(each, names) for each in ns.all(RUNS)) and not any(
        {pod.run, pod.table} & names for pod in ns.pods()
    )


def _version(item: Manifest) -> tuple[str, str, str]:
    metadata = item["metadata"]
    return metadata["uid"], metadata["resourceVersion"], str(metadata.get("deletionTimestamp"))


def _lasting(item: Manifest) -> Manifest:
    """A catalog without the number of its tables, which changes with the victim's new tables."""
    found = {name: (each["status"], each["reason"]) for name, each in conditions(item).items()}
    return {"uid": item["metadata"]["uid"], "spec": item["spec"], "conditions": found}
