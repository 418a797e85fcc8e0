"""The objects that are created for a run, compared with golden files.

After an intended change, `UPDATE_GOLDEN=1 pytest tests/core/launch/test_driver_pod.py` rewrites them. Read the diff.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from paimon_contract.job import Job, JobCatalog, JobExecutors, JobRun, JobSpark, JobTable
from paimon_contract.parameters.compact import CompactParameters
from paimon_contract.parameters.compact_manifests import CompactManifestsParameters
from paimon_contract.parameters.provision import JobColumn, ProvisionParameters
from paimon_operator.api.compaction import CompactStrategy
from paimon_operator.api.executor_rights import PaimonExecutorRightsSpec
from paimon_operator.api.pod_overlay import PodOverlay
from paimon_operator.api.policies import AdoptionPolicy
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.core.launch.driver_pod import Launch, config_map, driver_pod, executor_rights
from paimon_operator.core.launch.executor_pod import Executors
from paimon_operator.core.launch.memory import DRIVER_MEMORY, EXECUTOR_MEMORY
from paimon_operator.core.storage.access import Mount, SecretKey, ValueSource, Variable
from spark_apps.driver.dispatch import read_job
from tests.support.builders import run, table

GOLDEN = Path(__file__).parent / "golden"

ORDERS = table()
COMPACT = run("orders-compact-8f3a91c2", table=ORDERS, trigger={"type": "Schedule"})
PROVISION = run("orders-provision-0c0ffee0", table=ORDERS, type="Provision", compact=None, trigger={"type": "Spec"})

SECRET_KEYS = tuple(
    Variable(name=key, secret_key=SecretKey(secret="lake-s3", key=key, optional=key == "AWS_SESSION_TOKEN"))
    for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
)
MOUNTS = (
    Mount(volume="warehouse", source=ValueSource.CLAIM, name="lake-pvc", path="/data"),
    Mount(volume="ca", source=ValueSource.CONFIG_MAP, name="lake-ca", path="/etc/ca", items={"ca.crt": "ca.crt"}),
    Mount(volume="maybe", source=ValueSource.SECRET, name="lake-pg", path="/etc/pg", items={"u": "u"}, optional=True),
    Mount(
        volume="keytab", source=ValueSource.SECRET, name="lake-keytab", path="/etc/keytab", items={"keytab": "keytab"}
    ),
)


def job(of: PaimonRun, parameters: object) -> Job:
    return Job(
        run=JobRun(name=of.metadata.name, uid=of.metadata.uid, namespace=of.metadata.namespace),
        operation=of.spec.type,
        engine="paimon-1.4",
        catalog=JobCatalog(
            warehouse="s3://lake/warehouse", metastore="filesystem", options={"s3.endpoint": "http://s3"}
        ),
        table=JobTable(database="shop", name="orders"),
        owner="kube-system-uid/shop/orders",
        commit_user=f"{of.metadata.name}-{of.metadata.uid}",
        parameters=parameters,
    )


COMPACT_JOB = job(COMPACT, CompactParameters(strategy=CompactStrategy.FULL))
PROVISION_JOB = job(
    PROVISION,
    ProvisionParameters(
        columns=(JobColumn(name="order_id", type="BIGINT NOT NULL"), JobColumn(name="Größe", type="STRING")),
        primary_keys=("order_id",),
        options={"bucket": "4"},
        adoption=AdoptionPolicy.ADOPT_IF_IDENTICAL,
    ),
)
LAUNCH = Launch(
    job=COMPACT_JOB,
    image="paimon-spark:paimon-1.4",
    cores=1,
    cpu_request_millis=1000,
    memory_mib=2048,
    variables=SECRET_KEYS,
)
EVERYTHING = replace(
    LAUNCH,
    job=PROVISION_JOB,
    image="registry.example/spark@sha256:0123",
    pull_policy="Always",
    service_account="lake-spark",
    cores=4,
    cpu_request_millis=2000,
    memory_mib=9000,
    scratch="100Gi",
    variables=(*SECRET_KEYS, Variable(name="HADOOP_USER_NAME", value="paimon")),
    mounts=MOUNTS,
)

OVERLAY = PodOverlay.model_validate(
    {
        "labels": {"team": "shop"},
        "annotations": {"note": "long work"},
        "nodeSelector": {"disk": "ssd"},
        "tolerations": [{"key": "spark", "operator": "Exists", "effect": "NoSchedule"}],
        "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": []}},
        "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}],
        "priorityClassName": "batch",
        "schedulerName": "queue",
        "runtimeClassName": "sandbox",
    }
)
EXECUTORS = Executors(
    job=JobExecutors(
        instances=2,
        cores=2,
        cpu_millis=2000,
        heap_mib=3277,
        overhead_mib=819,
        service_account="paimon-spark",
        timeout_seconds=300,
    ),
    driver_account="paimon-driver",
    scratch="10Gi",
)
CLUSTER = replace(
    LAUNCH,
    job=replace(COMPACT_JOB, spark=JobSpark(conf={"spark.speculation": "true"}, executors=EXECUTORS.job)),
    long_work=True,
    executors=EXECUTORS,
    overlay=OVERLAY,
    mounts=(
        Mount(volume="ca", source=ValueSource.CONFIG_MAP, name="private-ca", path="/etc/paimon-storage/ca"),
        Mount(volume="keytab", source=ValueSource.SECRET, name="lake-keytab", path="/etc/paimon-storage/keytab"),
    ),
)


def a_pod(
    launch: Launch = LAUNCH, of: PaimonRun = COMPACT, *, attempt: int = 1, memory_mib: int = 2048
) -> dict[str, Any]:
    return driver_pod(of, launch, attempt=attempt, memory_mib=memory_mib, deadline_s=4500, own_deadline_s=3900)


def a_config_map(launch: Launch = LAUNCH, of: PaimonRun = COMPACT) -> dict[str, Any]:
    return config_map(of, launch, deadline_s=4500)


@pytest.mark.parametrize(
    ("name", "rendered"),
    [
        ("pod-usual", a_pod()),
        ("pod-third-attempt-with-more-memory", a_pod(attempt=3, memory_mib=4608)),
        ("pod-everything-set", a_pod(EVERYTHING, PROVISION, memory_mib=9000)),
        ("cluster-pod", a_pod(CLUSTER)),
        ("cluster-executor", json.loads(config_map(COMPACT, CLUSTER, deadline_s=4500)["data"]["executor.json"])),
        ("config-map-compact", a_config_map()),
        ("config-map-provision", a_config_map(EVERYTHING, PROVISION)),
    ],
)
def test_the_rendered_object_equals_the_golden_file(name: str, rendered: dict[str, Any]) -> None:
    file = GOLDEN / f"{name}.yaml"
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(yaml.safe_dump(rendered, sort_keys=False, width=10_000, allow_unicode=True), encoding="utf-8")
    assert rendered == yaml.safe_load(file.read_text(encoding="utf-8"))


def test_the_job_in_the_config_map_is_the_job_that_spark_reads_back() -> None:
    stored = a_config_map(EVERYTHING, PROVISION)["data"]["job.json"]
    assert read_job(stored) == PROVISION_JOB
    assert json.loads(stored)["commitUser"] == PROVISION_JOB.commit_user


def test_only_the_driver_of_an_operation_that_may_need_no_jvm_tries_without_one() -> None:
    def tries(launch: Launch, of: PaimonRun) -> bool:
        return {"name": "TRY_WITHOUT_JVM", "value": "1"} in a_pod(launch, of)["spec"]["containers"][0]["env"]

    merge = run("merge", table=ORDERS, type="CompactManifests", compact=None)
    merging = replace(LAUNCH, job=job(merge, CompactManifestsParameters()))
    assert (tries(EVERYTHING, PROVISION), tries(LAUNCH, COMPACT), tries(merging, merge)) == (True, True, False)


def test_the_config_map_of_the_job_is_immutable() -> None:
    assert a_config_map()["immutable"] is True


def test_every_object_is_controlled_by_its_run() -> None:
    for body in (a_pod(), a_config_map()):
        (owner,) = body["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["uid"], owner["controller"]) == ("PaimonRun", COMPACT.metadata.uid, True)


def test_an_attempt_changes_its_name_label_number_and_size_only() -> None:
    def without_attempt(pod: dict[str, Any]) -> dict[str, Any]:
        del pod["metadata"]["name"], pod["metadata"]["labels"]["paimon-operator.dev/attempt"]
        container = pod["spec"]["containers"][0]
        del container["resources"]
        container["env"] = [each for each in container["env"] if each["name"] not in ("RUN_ATTEMPT", "DRIVER_HEAP")]
        return pod

    assert without_attempt(a_pod()) == without_attempt(a_pod(attempt=2, memory_mib=3072))


def test_all_pods_of_a_table_share_one_host_name_if_the_metastore_records_host_names_with_locks() -> None:
    def host(launch: Launch, of: PaimonRun, **attempt: int) -> str:
        return str(a_pod(replace(launch, table_host_name=True), of, **attempt)["spec"]["hostname"])

    assert host(LAUNCH, COMPACT) == host(LAUNCH, COMPACT, attempt=2) == host(EVERYTHING, PROVISION)
    assert re.fullmatch("orders-[0-9a-f]{8}", host(LAUNCH, COMPACT))
    assert "hostname" not in a_pod()["spec"]


def test_no_service_accounts_token_is_mounted() -> None:
    for launch in (LAUNCH, EVERYTHING):
        assert a_pod(launch)["spec"]["automountServiceAccountToken"] is False


def test_only_a_driver_with_executors_has_a_token_which_lasts_until_its_deadline() -> None:
    spec = a_pod(CLUSTER)["spec"]
    (projected,) = [volume["projected"] for volume in spec["volumes"] if "projected" in volume]
    assert spec["automountServiceAccountToken"] is False
    assert projected["sources"][0] == {"serviceAccountToken": {"path": "token", "expirationSeconds": 4500}}
    assert not [volume for volume in a_pod()["spec"]["volumes"] if "projected" in volume]


def test_the_rights_list_what_executors_may_use_and_are_those_of_the_runs_config_map() -> None:
    job = config_map(COMPACT, CLUSTER, deadline_s=4500)
    body = executor_rights(job, CLUSTER.image)
    assert body is not None
    assert " ".join(PaimonExecutorRightsSpec.model_validate(body["spec"]).may_use) == (
        "annotation/note configmap/private-ca deadline/4500 image/paimon-spark:paimon-1.4 "
        "label/app.kubernetes.io/managed-by=paimon-operator label/paimon-operator.dev/role=executor "
        "label/paimon-operator.dev/run=orders-compact-8f3a91c2 label/paimon-operator.dev/table=orders label/team=shop "
        "priorityclass/batch runtimeclass/sandbox secret/lake-keytab secretkey/lake-s3/AWS_ACCESS_KEY_ID "
        "secretkey/lake-s3/AWS_SECRET_ACCESS_KEY secretkey/lake-s3/AWS_SESSION_TOKEN serviceaccount/paimon-spark"
    )
    assert body["metadata"] == job["metadata"]


def test_a_run_without_executors_gives_them_nothing() -> None:
    assert executor_rights(config_map(COMPACT, LAUNCH, deadline_s=4500), LAUNCH.image) is None


def test_a_driver_knows_its_run_and_namespace_for_the_fields_of_its_log() -> None:
    environment = {each["name"]: each.get("value") for each in a_pod()["spec"]["containers"][0]["env"]}
    named = a_pod()["metadata"]
    assert environment["RUN_NAME"] == named["ownerReferences"][0]["name"]
    assert environment["RUN_NAMESPACE"] == named["namespace"]


def test_executors_of_an_attempt_after_an_upgrade_use_its_image() -> None:
    """Driver and executors must use one Spark. The rights are immutable, so the policy checks the chart's images."""
    pod = a_pod(replace(CLUSTER, image="paimon-spark:after"), attempt=2)
    (container,) = pod["spec"]["containers"]
    environment = {each["name"]: each.get("value") for each in container["env"]}
    assert environment["EXECUTOR_IMAGE"] == container["image"] == "paimon-spark:after"


def test_an_overlay_adds_values_and_never_replaces_one() -> None:
    overlay = PodOverlay.model_validate({"labels": {"paimon-operator.dev/run": "another", "team": "shop"}})
    labels = a_pod(replace(LAUNCH, overlay=overlay))["metadata"]["labels"]
    assert labels == a_pod()["metadata"]["labels"] | {"team": "shop"}


def test_executors_get_nothing_that_only_drivers_need() -> None:
    """Executors write files and commit nothing, so they need no password of the metastore."""
    secret = SecretKey(secret="lake-pg", key="username")
    login = Variable(name="METASTORE_USERNAME", secret_key=secret, driver_only=True)
    password = Mount(volume="metastore", source=ValueSource.SECRET, name="lake-pg", path="/etc/pg", driver_only=True)
    launch = replace(CLUSTER, variables=(*CLUSTER.variables, login), mounts=(*CLUSTER.mounts, password))

    assert "lake-pg" in str(a_pod(launch)["spec"]["volumes"])
    assert "lake-pg" not in str(config_map(COMPACT, launch, deadline_s=4500))
    environment = {each["name"]: each.get("value") for each in a_pod(launch)["spec"]["containers"][0]["env"]}
    shared = environment["SHARED_SECRETS"]
    assert "METASTORE" not in shared
    assert "/etc/pg" not in shared


@given(memory=st.integers(1024, 512 * 1024))
def test_the_heap_and_the_overhead_of_an_executor_add_up_to_its_container(memory: int) -> None:
    beside = EXECUTOR_MEMORY.overhead_mib(memory)
    assert beside >= max(384, int(memory * 0.2))
    assert memory - beside >= 512


def test_credentials_are_only_references_to_secrets() -> None:
    environment = {each["name"]: each for each in a_pod()["spec"]["containers"][0]["env"]}
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        assert set(environment[name]) == {"name", "valueFrom"}
        assert environment[name]["valueFrom"]["secretKeyRef"]["name"] == "lake-s3"


@given(memory=st.integers(1024, 512 * 1024))
def test_the_heap_and_the_overhead_of_a_driver_add_up_to_its_container(memory: int) -> None:
    beside = memory - DRIVER_MEMORY.heap_mib(memory)
    assert beside >= 512
    assert beside >= int(memory * 0.35)
    assert DRIVER_MEMORY.heap_mib(memory) >= 512
