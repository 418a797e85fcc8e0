"""The observer of a catalog: which catalogs have one, its Pod, and what happens to Pods that are not as wanted."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from paimon_contract import environment
from paimon_contract.looks import read_config
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.core import naming
from paimon_operator.core.catalog.observer import plan_observer, wanted_pod
from paimon_operator.core.catalog.plan import CatalogObserved
from paimon_operator.core.commits.warehouses import Warehouse
from paimon_operator.core.config import ObserverFacts
from paimon_operator.core.launch.builder import LaunchBuilder
from tests.support import builders

GOLDEN = Path(__file__).parent / "golden" / "observer-pod.yaml"
REACHED = CatalogObserved(tables=1, warehouses=frozenset({"s3.storage:7070:s3://lake/warehouse"}))
OTHER = Warehouse(place="s3://lake", namespace="bank", name="lake", uid="u", reached_at=None)
FACTS = ObserverFacts(url="http://paimon-operator.paimon-system.svc:8082/v1/looks")
S3 = builders.catalog_manifest()["spec"]["storage"]["s3"]


def launches(images: dict[str, str] | None = None, *, observer: ObserverFacts | None = FACTS) -> LaunchBuilder:
    return LaunchBuilder(
        operator=builders.operator_facts(observer=observer, claims_allowed=True),
        images=images or {"paimon-1.4": "registry.example/paimon-spark:1.4"},
        pull_policy="IfNotPresent",
        pending_timeout=timedelta(minutes=10),
        cpu_share=1.0,
    )


def pod_of(catalog: PaimonCatalog, **images: str) -> dict[str, Any]:
    """The Pod of a catalog that has an observer."""
    pod = wanted_pod(catalog, REACHED, launches(images))
    assert pod is not None
    return pod


def test_the_pod_is_as_in_the_golden_file() -> None:
    rendered = pod_of(builders.catalog())
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.write_text(yaml.safe_dump(rendered, sort_keys=False, width=10_000), encoding="utf-8")
    assert rendered == yaml.safe_load(GOLDEN.read_text(encoding="utf-8"))


def test_the_observer_can_read_its_configuration() -> None:
    (container,) = pod_of(builders.catalog())["spec"]["containers"]
    variables = {each["name"]: each.get("value") for each in container["env"]}
    config = read_config(variables[environment.OBSERVER_CONFIG])
    assert (config.engine, config.catalog.warehouse) == ("paimon-1.4", "s3://lake/warehouse")
    assert config.url == FACTS.url
    assert config.catalog.options["s3.endpoint"] == "http://s3.storage:7070"


def test_the_pod_holds_no_secret_and_one_token_that_the_api_server_does_not_accept() -> None:
    spec = pod_of(builders.catalog())["spec"]
    assert spec["automountServiceAccountToken"] is False
    tokens = [source for each in spec["volumes"] for source in each.get("projected", {}).get("sources", [])]
    assert [each["serviceAccountToken"]["audience"] for each in tokens] == ["paimon-operator"]


CREDENTIALS: dict[str, dict[str, Any]] = {
    "the account": {},
    "keys": {"credentialsSecretRef": {"name": "lake-s3"}},
    "a file": {"credentialsFileSecretRef": {"name": "lake-keys"}, "caConfigMapRef": {"name": "ca"}},
}


@pytest.mark.parametrize("given", CREDENTIALS.values(), ids=CREDENTIALS)
def test_the_pod_reaches_the_storage_as_drivers_do(given: dict[str, Any]) -> None:
    plain = {key: value for key, value in S3.items() if key != "credentialsSecretRef"}
    plain |= {"endpoint": "https://s3.storage:7070"}
    spark = {"serviceAccountName": "lake", "podOverlay": {"nodeSelector": {"disk": "ssd"}, "labels": {"team": "a"}}}
    catalog = builders.catalog(storage={"s3": plain | given}, spark=spark)
    pod = pod_of(catalog)
    secrets = [each["secret"]["secretName"] for each in pod["spec"]["volumes"] if "secret" in each]
    assert secrets == (["lake-keys"] if "credentialsFileSecretRef" in given else [])
    names = {each["name"] for each in pod["spec"]["containers"][0]["env"]}
    assert (environment.AWS_ACCESS_KEY_ID in names) == ("credentialsSecretRef" in given)
    assert (environment.STORAGE_CA_FILE in names) == ("caConfigMapRef" in given)
    assert (pod["spec"]["serviceAccountName"], pod["spec"]["nodeSelector"]) == ("lake", {"disk": "ssd"})
    assert pod["metadata"]["labels"] == {"team": "a", **naming.observer_labels("lake")}


def on_hdfs(**hdfs: Any) -> PaimonCatalog:
    return builders.catalog(warehouse="hdfs://nn:8020/lake", storage={"hdfs": hdfs})


KERBEROS = {
    "configMapRef": {"name": "hadoop-conf"},
    "kerberos": {
        "principal": "paimon@LAKE.TEST",
        "keytabSecretRef": {"name": "lake-keytab"},
        "krb5ConfigMapRef": {"name": "krb5"},
    },
}


def test_on_hdfs_it_has_the_configuration_and_the_identity_of_drivers() -> None:
    pod = pod_of(on_hdfs(**KERBEROS, options={"dfs.client.socket-timeout": "9000"}))
    (container,) = pod["spec"]["containers"]
    variables = {each["name"]: each.get("value") for each in container["env"]}
    config = read_config(variables[environment.OBSERVER_CONFIG] or "")
    assert config.catalog.warehouse == "hdfs://nn:8020/lake"
    assert config.hadoop == {"dfs.client.socket-timeout": "9000", "hadoop.security.authentication": "kerberos"}
    assert variables[environment.KRB5PRINCIPAL] == "paimon@LAKE.TEST"
    mounted = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    assert variables[environment.KRB5KEYTAB] == f"{mounted['keytab']}/keytab"
    assert variables[environment.KRB5_CONFIG] == f"{mounted['krb5']}/krb5.conf"
    assert variables[environment.HADOOP_CONF_DIR] == mounted["hadoop"]
    (keytab,) = [each["secret"] for each in pod["spec"]["volumes"] if each["name"] == "keytab"]
    assert keytab["secretName"] == "lake-keytab"


def test_without_kerberos_it_is_the_user_of_the_catalog() -> None:
    (container,) = pod_of(on_hdfs(user="paimon"))["spec"]["containers"]
    variables = {each["name"]: each.get("value") for each in container["env"]}
    assert variables[environment.HADOOP_USER_NAME] == "paimon"
    assert read_config(variables[environment.OBSERVER_CONFIG] or "").hadoop == {}


def test_on_s3_the_configuration_is_one_that_older_images_read() -> None:
    (container,) = pod_of(builders.catalog())["spec"]["containers"]
    (text,) = [each["value"] for each in container["env"] if each["name"] == environment.OBSERVER_CONFIG]
    assert "hadoop" not in text


def with_metadata(**members: Any) -> PaimonCatalog:
    catalog = builders.catalog()
    return catalog.model_copy(update={"metadata": catalog.metadata.model_copy(update=members)})


WITHOUT: dict[str, tuple[PaimonCatalog, CatalogObserved, LaunchBuilder]] = {
    "an operator without observers": (builders.catalog(), REACHED, launches(observer=None)),
    "an engine without an image": (builders.catalog(), REACHED, launches({"paimon-0.9": "i:1"})),
    "no established table": (builders.catalog(), CatalogObserved(tables=1), launches()),
    "a suspended catalog": (builders.catalog(suspend=True), REACHED, launches()),
    "a deleted catalog": (with_metadata(deletion_timestamp=builders.NOW), REACHED, launches()),
    "an invalid catalog": (builders.catalog(engine="paimon-7.7"), REACHED, launches()),
    "an overlapping warehouse": (
        builders.catalog(),
        CatalogObserved(tables=1, warehouses=REACHED.warehouses, overlap=OTHER),
        launches(),
    ),
    "a volume": (
        builders.catalog(warehouse="file:///data/lake", storage={"claim": {"name": "lake"}}),
        REACHED,
        launches(),
    ),
}


@pytest.mark.parametrize(("catalog", "observed", "builder"), WITHOUT.values(), ids=WITHOUT)
def test_there_is_no_observer_for(catalog: PaimonCatalog, observed: CatalogObserved, builder: LaunchBuilder) -> None:
    assert wanted_pod(catalog, observed, builder) is None


def test_another_template_has_another_name_and_the_same_one_the_same() -> None:
    name = pod_of(builders.catalog())["metadata"]["name"]
    assert name == pod_of(builders.catalog(timeZone="Europe/Berlin"))["metadata"]["name"]
    others = (
        pod_of(builders.catalog(), **{"paimon-1.4": "registry.example/paimon-spark:1.5"}),
        pod_of(builders.catalog(storage={"s3": S3 | {"region": "eu-central-1"}})),
        pod_of(with_metadata(uid="another")),
    )
    names = {each["metadata"]["name"] for each in others}
    assert len(names | {name}) == 4
    assert all(each.startswith("paimon-observer-lake-") for each in names)


@pytest.mark.parametrize("catalog", ["a", "x" * 253, "lake." + "y" * 40])
def test_the_name_is_a_label_of_dns(catalog: str) -> None:
    name = naming.observer_name(catalog, "uid", "template")
    assert len(name) <= 63
    assert name.strip("-") == name.lower().replace(".", "")


def stored(pod: dict[str, Any], uid: str = "1", **metadata: Any) -> dict[str, Any]:
    """The Pod as the API server stores it."""
    return pod | {"metadata": pod["metadata"] | {"uid": uid} | metadata}


class Pods:
    """The wanted Pod of the catalog `lake`, and other ones."""

    def __init__(self) -> None:
        self.catalog = builders.catalog()
        self.wanted = pod_of(self.catalog)
        self.right = stored(self.wanted)
        self.old = stored(self.wanted, "2", name="paimon-observer-lake-00000000")
        self.evicted = self.right | {"status": {"phase": "Failed"}}
        self.ending = stored(self.wanted, deletionTimestamp="2026-11-21T08:00:00Z")
        self.foreign = stored(self.wanted, "3", ownerReferences=[])


PODS: dict[str, tuple[bool, list[str], list[str], bool, list[str]]] = {
    "nothing": (True, [], [], True, []),
    "the right one": (True, ["right"], [], False, ["1"]),
    "an old one": (True, ["old"], ["2"], True, []),
    "both": (True, ["right", "old"], ["2"], False, ["1"]),
    "an evicted one": (True, ["evicted"], ["1"], False, []),
    "one that ends": (True, ["ending"], [], False, []),
    "one that somebody else has made": (True, ["foreign"], [], True, []),
    "the right one, but none is wanted": (False, ["right"], ["1"], False, []),
    "nothing, and none is wanted": (False, [], [], False, []),
}


@pytest.mark.parametrize(("is_wanted", "existing", "deleted", "creates", "expected"), PODS.values(), ids=PODS)
def test_the_plan_for_existing_pods(
    is_wanted: bool, existing: list[str], deleted: list[str], creates: bool, expected: list[str]
) -> None:
    pods = Pods()
    plan = plan_observer(pods.catalog, pods.wanted if is_wanted else None, [getattr(pods, each) for each in existing])
    assert [each.uid for each in plan.delete] == deleted
    assert (plan.create is not None) == creates
    assert [each["metadata"]["uid"] for each in plan.expected] == expected
