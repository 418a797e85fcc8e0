"""What somebody with the operator's token can do: on a real API server, with the chart's rights and its policies.

The legitimate Pods are those that the operator's own code makes, for each kind of catalog.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from kubernetes import client
from kubernetes.client import ApiException

from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.core.catalog.observer import wanted_pod
from paimon_operator.core.catalog.plan import CatalogObserved
from paimon_operator.core.config import ObserverFacts
from paimon_operator.core.launch.batch_pod import batch_pod, member_of
from paimon_operator.core.launch.builder import LaunchBuilder
from paimon_operator.core.launch.driver_pod import Launch, config_map, driver_pod, executor_rights
from paimon_operator.core.launch.pod_security import PodRules
from paimon_operator.core.naming import EXECUTOR_RIGHTS_PLURAL, FINALIZER
from tests.apiserver.api import Body, CustomObjects, create_account
from tests.apiserver.namespace_client import CATALOGS, GROUP, RUNS, TABLES, VERSION, NamespaceClient
from tests.apiserver.operator_process import IMAGE
from tests.apiserver.refused_batches import REFUSED_BATCHES
from tests.apiserver.refused_drivers import REFUSED_DRIVERS
from tests.apiserver.refused_observers import REFUSED_OBSERVERS
from tests.apiserver.rights import Rights
from tests.cluster.apiserver import ApiServer, open_client
from tests.support import builders
from tests.support.manifests import REMOVED, keyed_table, run
from tests.support.pod_edits import Edit, Object

NAMESPACE: Final = "taken-over"
EXAMPLES: Final = Path(__file__).parents[2] / "examples"
ENFORCED: Final = "must be controlled by a PaimonRun"
OURS: Final = "orders-compact-0c0ffee0"
"""The run with a Pod."""
SIDECAR: Final = "registry.test/sidecar@sha256:1111"
_BUILDER: Final = LaunchBuilder(
    operator=builders.operator_facts(claims_allowed=True),
    images=dict.fromkeys(builders.engines(), IMAGE),
    pull_policy="IfNotPresent",
    pending_timeout=timedelta(minutes=10),
    cpu_share=1.0,
)


@dataclass
class Account:
    """The operator's account. Every request is a dry run, except of what a test says."""

    ns: NamespaceClient
    core: client.CoreV1Api
    custom: CustomObjects
    policies: list[str]
    """Names of all policies of the chart."""

    def creates(self, body: Object) -> str:
        """Returns the refusal of a Pod; empty when it is admitted."""
        sent: Body = body
        return refusal(lambda: self.core.create_namespaced_pod(NAMESPACE, sent, dry_run="All"))

    def patches(self, pod: str, patch: Object) -> str:
        return refusal(lambda: self.core.patch_namespaced_pod(pod, NAMESPACE, patch, dry_run="All"))

    def deletes(self, pod: str) -> str:
        return refusal(lambda: self.core.delete_namespaced_pod(pod, NAMESPACE, dry_run="All"))

    def patches_kind(self, plural: str, name: str, patch: Object) -> str:
        place = (GROUP, VERSION, NAMESPACE, plural, name)
        return refusal(lambda: self.custom.patch_namespaced_custom_object(*place, patch, dry_run="All"))


def refusal(attempt: Callable[[], object]) -> str:
    """Returns status and body of the API server's refusal; empty when the request is admitted."""
    try:
        attempt()
    except ApiException as error:
        return f"{error.status} {error.body}"
    return ""


def catalogs() -> dict[str, Object]:
    """The spec of each kind of catalog: those of the examples, and what these leave out."""
    files = sorted(EXAMPLES.glob("*.yaml"))
    found = {
        file.stem: each["spec"]
        for file in files
        for each in yaml.safe_load_all(file.read_text())
        if each["kind"] == "PaimonCatalog"
    }
    s3 = found["catalog"]["storage"]["s3"]
    plain = {key: value for key, value in s3.items() if key != "credentialsSecretRef"}
    secure = {**plain, "endpoint": "https://s3.example.com", "caConfigMapRef": {"name": "ca"}}
    cluster = {"mode": "Cluster", "driverServiceAccountName": "paimon-driver-lake"}
    overlay = {"labels": {"team": "shop"}, "annotations": {"note": "x"}, "nodeSelector": {"disk": "ssd"}}
    return found | {
        "identity of the account": {**found["catalog"], "storage": {"s3": plain}},
        "a file of keys": {
            **found["catalog"],
            "storage": {"s3": {**secure, "credentialsFileSecretRef": {"name": "lake-keys"}}},
        },
        "executors": {**found["catalog"], "spark": {**cluster, "podOverlay": overlay}},
        "executors of a Hive metastore": {**found["hive"], "spark": {"mode": "Cluster"}},
        "the namespace's account": {**found["catalog"], "spark": {}},
    }


def driver_of(
    spec: Object,
    name: str = "orders-compact-8f3a91c2",
    attempt: int = 1,
    *,
    namespace: str = NAMESPACE,
    rules: PodRules | None = None,
) -> tuple[Object, Object]:
    """The ConfigMap and the driver Pod that the operator makes for a compaction of a table in such a catalog."""
    of, launch = launch_of(spec, name, namespace=namespace, rules=rules)
    settings = config_map(of, launch, deadline_s=4500)
    return settings, driver_pod(
        of, launch, attempt=attempt, memory_mib=launch.memory_mib, deadline_s=4500, own_deadline_s=3900
    )


def launch_of(
    spec: Object, name: str, *, namespace: str = NAMESPACE, rules: PodRules | None = None
) -> tuple[PaimonRun, Launch]:
    """A compaction of a table in such a catalog, and how the operator starts it."""
    table = builders.table(namespace=namespace, compaction={"mode": "Dedicated"})
    of = builders.run(name, table=table, trigger={"type": "Schedule"})
    given: Object = {"engine": "paimon-1.4", "allowedDatabases": ["shop"]} | spec
    builder = replace(_BUILDER, rules=rules or PodRules())
    return of, builder.launch_of(of, table, builders.catalog(namespace=namespace, **given))


def observer_of(spec: Object) -> Object:
    """The Pod of the observer of such a catalog."""
    facts = ObserverFacts(url=f"http://paimon-operator.{NAMESPACE}.svc:8082/v1/looks")
    builder = replace(_BUILDER, operator=replace(_BUILDER.operator, observer=facts))
    given: Object = {"engine": "paimon-1.4", "allowedDatabases": ["shop"]} | spec
    reached = CatalogObserved(tables=1, warehouses=frozenset({"s3://lake"}))
    pod = wanted_pod(builders.catalog(namespace=NAMESPACE, **given), reached, builder)
    assert pod is not None, "this storage has no observer"
    return pod


def batch_of(spec: Object) -> Object:
    """The Pod that runs of two tables of such a catalog share."""
    given: Object = {"engine": "paimon-1.4", "allowedDatabases": ["shop"]} | spec
    catalog = builders.catalog(namespace=NAMESPACE, **given)
    members, launches = [], []
    for name in ("orders", "clicks"):
        table = builders.table(name, namespace=NAMESPACE)
        of = builders.run(f"{name}-observe-8f3a91c2", table=table, type="Observe", compact=None)
        launches.append(_BUILDER.launch_of(of, table, catalog))
        member = member_of(of, table, launches[-1])
        assert member is not None, "its drivers share no Pod"
        members.append(member)
    url = f"http://paimon-operator.{NAMESPACE}.svc:8082/v1/turns"
    return batch_pod(
        catalog, launches[0], members, url=url, deadline_s=4500, own_deadline_s=3900, distinction="2026-11-21T08:10:00Z"
    )


@pytest.fixture(scope="module")
def account(api_server: ApiServer) -> Iterator[Account]:
    """The account in a namespace without Pod Security, so that every refusal is the policy's, with three Pods."""
    ns = NamespaceClient(api_server.kubeconfig, NAMESPACE)
    admission = {"sidecarImages": [SIDECAR], "driverVariables": ["HTTPS_PROXY"]}
    rights = Rights(api_server, ns, admission=admission, batching={"enabled": True})
    for name in ("paimon-spark", "paimon-driver", "paimon-driver-lake", "paimon-drivers"):
        create_account(ns.client, NAMESPACE, name)
    api = open_client(rights.kubeconfig)
    made = Account(ns, client.CoreV1Api(api), client.CustomObjectsApi(api), rights.policies())
    ns.create_catalog()
    ns.create(keyed_table(spec__writes=REMOVED))
    ns.create(run(metadata__name="by-hand"))
    _, ours = driver_of(catalogs()["catalog"], OURS)
    for body in (ours, bank(), unlabelled(ours)):
        # without an owner that exists the garbage collector would delete it
        stored: Body = body | {"metadata": body["metadata"] | {"ownerReferences": _owned_by_a_run(ns, body)}}
        ns.core.create_namespaced_pod(NAMESPACE, stored)
    unowned = deepcopy(ours)
    unowned["metadata"]["ownerReferences"] = []
    ns.wait(lambda: ENFORCED in made.creates(unowned), "the policies enforced")
    yield made
    api.close()  # type: ignore[no-untyped-call]  # not annotated
    rights.close()
    ns.close()


def bank() -> Object:
    """A Pod of somebody else."""
    spec = {"containers": [{"name": "app", "image": "bank:1"}]}
    return {"metadata": {"name": "bank", "labels": {"app": "bank"}}, "spec": spec}


def unlabelled(ours: Object) -> Object:
    """A driver Pod whose labels a user has removed."""
    return ours | {"metadata": ours["metadata"] | {"name": f"{OURS}-9", "labels": {}}}


def _owned_by_a_run(ns: NamespaceClient, body: Object) -> list[Object]:
    if not body["metadata"].get("ownerReferences"):
        return []
    uid = ns.get(RUNS, "by-hand")["metadata"]["uid"]
    return [body["metadata"]["ownerReferences"][0] | {"name": "by-hand", "uid": uid}]


@pytest.mark.parametrize("kind", catalogs())
@pytest.mark.parametrize("attempt", [1, 3])
def test_the_pod_that_the_operator_makes_for_a_catalog_is_admitted(account: Account, kind: str, attempt: int) -> None:
    settings, pod = driver_of(catalogs()[kind], attempt=attempt)
    assert account.creates(pod) == ""
    made: Body = settings
    assert refusal(lambda: account.core.create_namespaced_config_map(NAMESPACE, made, dry_run="All")) == ""


@pytest.mark.parametrize(("sentence", "edit", "why"), REFUSED_DRIVERS, ids=[row[0] for row in REFUSED_DRIVERS])
def test_the_account_creates_no_pod_with(account: Account, sentence: str, edit: Edit, why: str) -> None:
    _, body = driver_of(catalogs()["catalog"])
    edit(body)
    answer = account.creates(body)
    assert answer, sentence
    assert why in answer, (sentence, answer)


OBSERVED: Final = ("catalog", "identity of the account", "a file of keys", "executors", "the namespace's account")


@pytest.mark.parametrize("kind", OBSERVED)
def test_the_observer_that_the_operator_makes_for_a_catalog_is_admitted(account: Account, kind: str) -> None:
    assert account.creates(observer_of(catalogs()[kind])) == ""


@pytest.mark.parametrize(("sentence", "edit", "why"), REFUSED_OBSERVERS, ids=[row[0] for row in REFUSED_OBSERVERS])
def test_the_account_creates_no_observer_with(account: Account, sentence: str, edit: Edit, why: str) -> None:
    body = observer_of(catalogs()["catalog"])
    edit(body)
    answer = account.creates(body)
    assert answer, sentence
    assert why in answer, (sentence, answer)


@pytest.mark.parametrize("kind", [kind for kind in catalogs() if kind not in ("hive", "executors of a Hive metastore")])
def test_the_pod_that_runs_of_a_catalog_share_is_admitted(account: Account, kind: str) -> None:
    assert account.creates(batch_of(catalogs()[kind])) == ""


@pytest.mark.parametrize(("sentence", "edit", "why"), REFUSED_BATCHES, ids=[row[0] for row in REFUSED_BATCHES])
def test_the_account_creates_no_shared_pod_with(account: Account, sentence: str, edit: Edit, why: str) -> None:
    body = batch_of(catalogs()["catalog"])
    edit(body)
    answer = account.creates(body)
    assert answer, sentence
    assert why in answer, (sentence, answer)


def test_a_driver_gets_no_jobs_of_a_shared_pod(account: Account) -> None:
    _, body = driver_of(catalogs()["catalog"])
    body["spec"]["containers"][0]["env"].append({"name": "BATCH_JOB_0", "value": "{}"})
    assert "must not choose the code that it runs" in account.creates(body)


def test_a_container_of_an_injector_is_admitted_with_an_image_that_the_chart_names(account: Account) -> None:
    security = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    sidecar = {"name": "agent", "image": SIDECAR, "securityContext": security}
    _, body = driver_of(catalogs()["catalog"])
    body["spec"]["containers"].append(sidecar)
    body["spec"]["initContainers"] = [sidecar | {"name": "before"}]
    assert account.creates(body) == ""
    body["spec"]["containers"][1] = {"name": "agent", "image": SIDECAR}
    assert "must pass Pod Security restricted" in account.creates(body)


POD_PATCHES: Final[dict[str, Object]] = {
    "image": {"spec": {"containers": [{"name": "driver", "image": "busybox"}]}},
    "deadline": {"spec": {"activeDeadlineSeconds": 5}},
    "label": {"metadata": {"labels": {"app": "bank"}}},
    "annotation": {"metadata": {"annotations": {"iam.amazonaws.com/role": "bank"}}},
    "owner": {"metadata": {"ownerReferences": None}},
    "finalizer of another": {"metadata": {"finalizers": [FINALIZER, "a.test/x"]}},
}


@pytest.mark.parametrize("what", POD_PATCHES)
def test_the_account_changes_of_its_own_pod_no(account: Account, what: str) -> None:
    assert "nothing of a Pod but its own finalizer" in account.patches(f"{OURS}-1", POD_PATCHES[what])


def test_the_account_changes_and_deletes_no_pod_of_others(account: Account) -> None:
    image = {"spec": {"containers": [{"name": "app", "image": "busybox"}]}}
    finalizer = {"metadata": {"finalizers": [FINALIZER]}}
    for answer in (account.patches("bank", image), account.patches("bank", finalizer), account.deletes("bank")):
        assert "only Pods of its runs" in answer


@pytest.mark.parametrize("pod", [f"{OURS}-1", f"{OURS}-9"], ids=["labelled", "owned"])
def test_the_account_releases_and_deletes_the_pods_of_its_runs(account: Account, pod: str) -> None:
    assert account.patches(pod, {"metadata": {"finalizers": []}}) == ""
    assert account.deletes(pod) == ""


@pytest.mark.parametrize(
    ("plural", "name", "patch"),
    [
        (CATALOGS, "lake", {"spec": {"spark": {"serviceAccountName": "bank"}}}),
        (CATALOGS, "lake", {"spec": {"storage": {"s3": {"credentialsSecretRef": {"name": "bank"}}}}}),
        (TABLES, "orders", {"spec": {"deletionPolicy": "Delete"}}),
        (TABLES, "orders", {"metadata": {"annotations": {"a.test/x": "y"}}}),
        (TABLES, "orders", {"metadata": {"finalizers": ["a.test/x"]}}),
        (RUNS, "by-hand", {"metadata": {"labels": {"a.test/x": "y"}}}),
    ],
)
def test_the_account_edits_no_manifest(account: Account, plural: str, name: str, patch: Object) -> None:
    assert "nothing of a catalog, a table or a run but" in account.patches_kind(plural, name, patch)
    assert account.patches_kind(plural, name, {"metadata": {"finalizers": [FINALIZER]}}) == ""


@pytest.mark.parametrize(
    "edit",
    [
        lambda body: body["metadata"].update(ownerReferences=[]),
        lambda body: body["metadata"].update(labels={}),
        lambda body: body.update(immutable=False),
    ],
)
def test_the_account_creates_no_config_map_but_of_a_run(account: Account, edit: Edit) -> None:
    body, _ = driver_of(catalogs()["catalog"])
    edit(body)
    made: Body = body
    answer = refusal(lambda: account.core.create_namespaced_config_map(NAMESPACE, made, dry_run="All"))
    assert "must be labelled, immutable and controlled by a PaimonRun" in answer


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (lambda _: None, ""),
        (lambda body: body["spec"]["mayUse"].append("image/busybox"), "only images of spark.images of the chart"),
        (lambda body: body["metadata"].update(ownerReferences=[]), "must be controlled by a PaimonRun"),
    ],
    ids=["those of its own code", "an image that the chart does not name", "no run"],
)
def test_the_account_gives_executors_of_a_run_what_the_chart_allows(account: Account, edit: Edit, why: str) -> None:
    """Another policy lets executors use what these rights name."""
    job, _ = driver_of(catalogs()["executors"])
    body: Any = executor_rights(job, IMAGE)
    edit(body)
    place = (GROUP, VERSION, NAMESPACE, EXECUTOR_RIGHTS_PLURAL)
    answer = refusal(lambda: account.custom.create_namespaced_custom_object(*place, body, dry_run="All"))
    assert (why in answer) if why else (answer == ""), answer


def test_a_variable_of_an_injector_is_admitted_if_the_chart_names_it(account: Account) -> None:
    _, body = driver_of(catalogs()["catalog"])
    body["spec"]["containers"][0]["env"].append({"name": "HTTPS_PROXY", "value": "http://proxy:8080"})
    assert account.creates(body) == ""


def test_the_account_reads_no_secret(account: Account) -> None:
    account.ns.core.create_namespaced_secret(NAMESPACE, client.V1Secret(metadata={"name": "lake-s3"}))
    for attempt in (
        lambda: account.core.read_namespaced_secret("lake-s3", NAMESPACE),
        lambda: account.core.list_namespaced_secret(NAMESPACE),
        account.core.list_secret_for_all_namespaces,
        lambda: account.core.read_namespaced_config_map("extension-apiserver-authentication", "kube-system"),
        lambda: account.core.connect_get_namespaced_pod_exec(f"{OURS}-1", NAMESPACE, command=["env"]),
        lambda: account.core.create_namespaced_service_account_token("default", NAMESPACE, _token_request()),
    ):
        assert refusal(attempt).startswith(str(int(HTTPStatus.FORBIDDEN)))


def _token_request() -> client.AuthenticationV1TokenRequest:
    return client.AuthenticationV1TokenRequest(spec=client.V1TokenRequestSpec(audiences=[]))


def test_the_policies_are_type_checked_without_a_warning(account: Account) -> None:
    api = client.AdmissionregistrationV1Api(account.ns.client)

    def checked() -> list[Any]:
        found = [api.read_validating_admission_policy(name).status for name in account.policies]
        types = [status.type_checking for status in found if status and status.type_checking]
        return types if len(types) == len(found) else []

    assert [each.expression_warnings for each in account.ns.wait(checked, "the types checked")] == [
        None for _ in account.policies
    ]
