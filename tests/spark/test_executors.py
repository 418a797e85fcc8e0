"""Mode Cluster with the operator's objects, the chart's accounts and policy, a real driver and real executors.

The test plays the scheduler and the kubelet; everything else is real. The namespace enforces Pod Security `restricted`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.core.launch.driver_pod import Launch
from paimon_operator.core.storage.access import Variable
from spark_apps.driver.dispatch import read_job
from tests.apiserver.crds import install_kinds
from tests.cluster.apiserver import USUAL_CONTROLLERS, ApiServer
from tests.cluster.hdfs import realm
from tests.cluster.hdfs.sites import TOKEN_SECONDS
from tests.cluster.processes import wait_until
from tests.spark.bucket import Bucket, identity
from tests.spark.hdfs_lake import HdfsLake, pod_environment
from tests.spark.lake import Lake
from tests.support import builders
from tests.support.executor_kubelet import Kubelet
from tests.support.executor_namespace import ExecutorNamespace, launch_of
from tests.support.s3_token_gate import Gate
from tests.support.spark_process import ROOT

NAMESPACE = "shop"
NO_WAIT = {"spark.scheduler.maxRegisteredResourcesWaitingTime": "1s"}
"""For runs whose executors never register: Spark waits for them half a minute before the driver itself does."""
SECRETS = ("the-secret-key", "_SPARK_AUTH_SECRET")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    with ApiServer(tmp_path_factory.mktemp("api"), controllers=USUAL_CONTROLLERS) as started:
        install_kinds(started.kubeconfig)
        yield started


@pytest.fixture
def ns(server: ApiServer) -> Iterator[ExecutorNamespace]:
    made = ExecutorNamespace(server, NAMESPACE)
    yield made
    made.core.delete_namespace(NAMESPACE)

    def gone() -> bool:
        return NAMESPACE not in {item.metadata.name for item in made.core.list_namespace().items}

    assert wait_until(gone, timeout=120)


@pytest.fixture
def kubelet(ns: ExecutorNamespace, lake: Lake, tmp_path: Path) -> Iterator[Kubelet]:
    directory = tmp_path / "node"
    directory.mkdir()
    made = Kubelet(ns, lake.home, directory)
    yield made
    made.close()


@pytest.fixture
def kubelet_on_hdfs(ns: ExecutorNamespace, hdfs_lake: HdfsLake, tmp_path: Path) -> Iterator[Kubelet]:
    directory = tmp_path / "node"
    directory.mkdir()
    made = Kubelet(ns, hdfs_lake.home, directory)
    yield made
    made.close()


def two_files(lake: Lake) -> None:
    """Creates a table of two sorted runs, which a full compaction merges."""
    lake.provision({"id": "BIGINT", "v": "STRING"}, keys=["id"], options={"bucket": "2", "write-only": "true"}).ok()
    for number in range(2):
        lake.land(f"orders/{number}.csv", "id,v\n" + "".join(f"{n},v{number}\n" for n in range(100)))
        lake.write().ok()


@pytest.fixture
def loaded(lake: Lake) -> Lake:
    """A lake with a table of two sorted runs."""
    two_files(lake)
    return lake


def compaction(lake: Lake, ns: ExecutorNamespace, **how: Any) -> tuple[dict[str, str], Any]:
    """Creates a compaction with executors; returns its ConfigMap's data and its driver's Pod."""
    return launched(ns, lake.job("Compact", compact={"strategy": "Full"}), **how)


def launched(ns: ExecutorNamespace, asked: dict[str, Any], **how: Any) -> tuple[dict[str, str], Any]:
    """Creates the objects of a job and its run; returns the ConfigMap's data and the driver's Pod."""
    run: PaimonRun = builders.run(asked["run"]["name"], table=builders.table())
    job = read_job(json.dumps(asked))
    job = replace(job, run=replace(job.run, uid=run.metadata.uid))
    launch: Launch = launch_of(job, **how)
    return ns.make(run, launch)


def until(met: Callable[[], bool], what: str) -> None:
    assert wait_until(met, timeout=180, interval=0.2), what


def test_two_executors_do_a_compaction_and_no_secret_is_in_any_object(
    loaded: Lake, ns: ExecutorNamespace, kubelet: Kubelet
) -> None:
    kubelet.start_driver(*compaction(loaded, ns))

    result = kubelet.result()

    assert result["ok"], (result, kubelet.log("driver").read_text()[-4000:])
    assert result["after"]["files"] < result["before"]["files"]
    assert {row["v"] for row in loaded.rows()} == {"v1"}
    assert len(loaded.rows()) == 100
    assert len(kubelet.seen) == 2
    until(lambda: all(process.poll() is not None for process in kubelet.executors.values()), "executors end")
    assert kubelet.pods() == [], "a driver that ends removes its executors"
    shown = " ".join(pod.model_dump_json() for pod in kubelet.seen.values())
    assert not [word for word in SECRETS if word in shown]
    for pod in kubelet.seen.values():
        (owner,) = pod.metadata.owner_references
        assert (owner.kind, pod.spec.service_account_name) == ("Pod", "paimon-spark")
        assert pod.spec.active_deadline_seconds
        assert [volume.name for volume in pod.spec.volumes] == ["spark-local-dir-1"]


@pytest.mark.long
@pytest.mark.newest_engine
@pytest.mark.parametrize("hdfs_kind", ["kerberos"], indirect=True)
def test_executors_on_an_hdfs_with_kerberos_need_no_login_and_renew_their_tokens(
    hdfs_lake: HdfsLake, ns: ExecutorNamespace, kubelet_on_hdfs: Kubelet
) -> None:
    """They work with the tokens that their driver, whose own ticket lasts ten seconds, gets and sends them; they would
    say so if they used the keytab."""
    lake, kubelet = hdfs_lake, kubelet_on_hdfs
    two_files(lake)
    lake.hdfs.shell("-chown", "-R", realm.HURRIED, lake.warehouse)
    environment = pod_environment(lake.hdfs, lake.directory, user=realm.HURRIED)
    environment["SPARK_APPS_MAIN"] = str(ROOT / "tests" / "support" / "spark_pause.py")
    environment["PATIENCE_S"] = str(TOKEN_SECONDS + 15)
    variables = tuple(Variable(name=name, value=value) for name, value in environment.items())
    kubelet.overrides["KRB5KEYTAB"] = "/nowhere"
    kubelet.start_driver(*compaction(lake, ns, variables=variables))

    result = kubelet.result()

    assert result["ok"], (result, kubelet.log("driver").read_text()[-4000:])
    assert result["after"]["files"] < result["before"]["files"]
    assert len(kubelet.seen) == 2, "no executor was replaced"
    rows = lake.rows()
    assert (len(rows), {row["v"] for row in rows}) == (100, {"v1"})


@pytest.mark.long
@pytest.mark.newest_engine
def test_executors_access_their_storage_with_the_identity_of_their_pods(
    bucket: Bucket, gate: Gate, ns: ExecutorNamespace, kubelet: Kubelet
) -> None:
    """There is no Secret. The test adds the variables that a cloud puts into Pods for temporary keys."""
    bucket.env = identity(gate)
    by_identity = {"endpoint": gate.endpoint}
    bucket.works(by_identity)
    assert bucket.write(by_identity, "two").code == 0
    fetched = gate.fetched
    job, _ = bucket.job("Compact", by_identity, compact={"strategy": "Full"})
    variables = tuple(Variable(name=name, value=value) for name, value in bucket.env.items())
    account = ns.account_of_drivers("lake")
    kubelet.start_driver(*launched(ns, job, variables=variables, driver_account=account))

    result = kubelet.result()

    assert result["ok"], (result, kubelet.log("driver").read_text()[-4000:])
    assert (result["before"]["files"], result["after"]["files"]) == (2, 1)
    assert bucket.rows() == [{"id": 1, "what": "two"}]
    assert gate.fetched >= fetched + 2, "the driver and at least one executor"


@pytest.mark.long
@pytest.mark.newest_engine
def test_an_executor_without_the_storages_secret_is_rejected_by_the_driver(
    loaded: Lake, ns: ExecutorNamespace, kubelet: Kubelet
) -> None:
    kubelet.overrides["AWS_SECRET_ACCESS_KEY"] = "guessed"
    kubelet.start_driver(*compaction(loaded, ns, instances=1, timeout_s=50, conf=NO_WAIT))

    error = kubelet.result()["error"]

    assert (kubelet.driver.returncode, error["class"], error["reason"]) == (30, "Infrastructure", "NoExecutors")
    logs = [kubelet.log(name).read_text() for name in kubelet.executors]
    assert any("SaslClientBootstrap" in log for log in logs), "the driver rejected its authentication"


@pytest.mark.newest_engine
def test_executors_end_when_their_driver_is_killed(loaded: Lake, ns: ExecutorNamespace, kubelet: Kubelet) -> None:
    data, pod = compaction(loaded, ns)
    kubelet.start_driver(data, pod)
    until(lambda: len(kubelet.executors) == 2, "two executors")
    executors = tuple(kubelet.executors.values())

    kubelet.kill_driver()

    until(lambda: all(process.poll() is not None for process in executors), "executors end")
    ns.core.delete_namespaced_pod(pod.metadata.name, NAMESPACE, grace_period_seconds=0)
    until(lambda: kubelet.pods() == [], "the garbage collector deletes the executors")


@pytest.mark.long
@pytest.mark.newest_engine
@pytest.mark.parametrize(("quota", "cause"), [(False, "-exec-"), (True, "exceeded quota")], ids=["no node", "quota"])
def test_a_driver_without_executors_ends_and_reports_the_cause(
    loaded: Lake, ns: ExecutorNamespace, kubelet: Kubelet, *, quota: bool, cause: str
) -> None:
    data, pod = compaction(loaded, ns, timeout_s=10, conf=NO_WAIT)
    if quota:
        body = {"metadata": {"name": "one-driver"}, "spec": {"hard": {"pods": "1"}}}
        ns.core.create_namespaced_resource_quota(NAMESPACE, body)
        used = {"status": {"hard": {"pods": "1"}, "used": {"pods": "1"}}}  # like its controller
        ns.core.patch_namespaced_resource_quota_status("one-driver", NAMESPACE, used)
    kubelet.start_driver(data, pod, executors=False)

    error = kubelet.result()["error"]

    assert (error["class"], error["reason"]) == ("Infrastructure", "NoExecutors")
    assert cause in error["message"]
    until(lambda: kubelet.pods() == [], "the driver deletes its Pods")
