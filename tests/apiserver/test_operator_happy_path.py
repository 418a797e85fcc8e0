"""The main road with the real operator process: tables are made, written, claimed, let go. The test is the kubelet."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from kubernetes import client

from paimon_operator.core.naming import FINALIZER
from tests.apiserver.operator_process import OperatorProcess
from tests.apiserver.stage import CATALOGS, RUNS, TABLES, Stage, conditions
from tests.cluster.apiserver import ApiServer
from tests.support.manifests import REMOVED, Manifest, edited, keyed_table, run


@pytest.fixture(scope="module")
def stage(api_server: ApiServer) -> Iterator[Stage]:
    stage = Stage(api_server.kubeconfig, "main-road")
    stage.create_catalog()
    yield stage
    stage.close()


@pytest.fixture(scope="module", autouse=True)
def operator(
    api_server: ApiServer, stage: Stage, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OperatorProcess]:
    logs = tmp_path_factory.mktemp("operator")
    with OperatorProcess(
        api_server.kubeconfig, logs, namespaces=[stage.namespace], lease_namespace=stage.namespace
    ) as operator:
        yield operator.wait_until_working()
        assert operator.errors() == []


def plain(name: str, **edits: object) -> Manifest:
    """A table without writes."""
    return edited(keyed_table(spec__writes=REMOVED), metadata__name=name, **edits)


def make(stage: Stage, manifest: Manifest) -> Manifest:
    """The table as it is when it is Ready and settled."""
    name = manifest["metadata"]["name"]
    stage.create(manifest)
    stage.succeed(stage.wait_for_pod(of=name))
    stage.wait_for_condition(TABLES, name, "Ready", "True", "TableMatchesSpec")
    return stage.get(TABLES, name)


def test_a_table_is_made_and_its_scheduled_write_runs(stage: Stage) -> None:
    stage.create(keyed_table(spec__writes__0__trigger__schedule="* * * * *"))
    provision = stage.wait_for_pod(of="orders")
    assert stage.run_of(provision)[1] == "Provision"
    assert conditions(stage.get(TABLES, "orders"))["Ready"]["status"] != "True"
    stage.run_pod(provision)
    stage.succeed(provision)

    stage.wait_for_condition(TABLES, "orders", "Ready", "True", "TableMatchesSpec")
    stage.wait_for_condition(CATALOGS, "lake", "Ready", "True")
    write = stage.wait_for_pod(of="orders")
    assert stage.run_of(write)[1] == "Write"
    stage.run_pod(write)
    stage.succeed(write)
    written = stage.wait(
        lambda: stage.get(TABLES, "orders")["status"]["writes"][0].get("committedSnapshot"), "the write's snapshot"
    )
    assert written == 1
    for name, *_ in [stage.run_of(provision), stage.run_of(write)]:
        run = stage.wait(lambda name=name: _released(stage.get(RUNS, name)), f"run {name} without finalizer")
        assert run["status"]["phase"] == "Succeeded"
        assert len(run["status"]["attempts"]) == 1
    stage.wait_for_event("Started")
    stage.wait_for_event("TableMatchesSpec")
    metadata = stage.get(TABLES, "orders")["metadata"]
    assert (metadata["finalizers"], metadata.get("annotations")) == (["paimon-operator.dev/finalizer"], None)
    stage.patch(TABLES, "orders", {"spec": {"suspend": True}})


def test_a_pods_job_is_a_frozen_config_map_and_no_secrets_value_is_anywhere(stage: Stage) -> None:
    stage.create(plain("frozen"))
    pod = stage.wait_for_pod(of="frozen")
    job = stage.core.read_namespaced_config_map(stage.run_of(pod)[0], stage.namespace)
    assert job.immutable
    assert '"operation":"Provision"' in job.data["job.json"]
    references = {
        variable.name: variable.value_from.secret_key_ref
        for variable in pod.spec.containers[0].env
        if variable.value_from
    }
    assert {reference.name for reference in references.values()} == {"lake-s3"}
    assert set(references) == {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}
    stage.succeed(pod)
    stage.wait_for_condition(TABLES, "frozen", "Ready", "True")


def test_a_failing_pod_is_tried_again_and_a_spec_error_is_not(stage: Stage) -> None:
    stage.create(plain("failing"))
    first = stage.wait_for_pod(of="failing")
    stage.run_pod(first)
    stage.end_pod(first, exit_code=1, message="a node went away")
    second = stage.wait_for_pod(of="failing")
    assert second.metadata.name == first.metadata.name[:-1] + "2"
    error = {"class": "Spec", "reason": "TableDiffers", "field": "spec.schema", "message": "it has another column"}
    run, operation = stage.run_of(second)
    stage.end_with_error(second, exit_code=20, error=error | {"remedy": "Rename the object."})
    stalled = stage.wait_for_condition(TABLES, "failing", "Stalled", "True", "TableDiffers")
    assert "it has another column" in stalled["message"]
    assert operation == "Provision"
    attempts = stage.get(RUNS, run)["status"]["attempts"]
    assert [attempt["failureClass"] for attempt in attempts] == ["Infrastructure", "Spec"]
    stage.wait_for_event("TableDiffers")


def test_a_second_object_for_one_table_is_told_who_has_it_and_touches_nothing(stage: Stage) -> None:
    first = make(stage, plain("claimed"))
    stage.wait(lambda: _age(first) > 1, "an age that differs, since creation times are whole seconds")
    stage.create(plain("claimed-again", spec__table="claimed"))
    stalled = stage.wait_for_condition(TABLES, "claimed-again", "Stalled", "True", "TableClaimed")
    assert f"{stage.namespace}/claimed " in stalled["message"]
    assert [run for run in stage.all(RUNS) if run["spec"]["tableRef"]["name"] == "claimed-again"] == []
    stage.delete(TABLES, "claimed")
    stage.succeed(stage.wait_for_pod(of="claimed-again"))
    stage.wait_for_condition(TABLES, "claimed-again", "Ready", "True")


def test_a_commit_of_others_stops_the_table_until_the_user_says_what_is_the_case(stage: Stage) -> None:
    stage.create(plain("watched"))
    stage.succeed(stage.wait_for_pod(of="watched"), seenSnapshot=812)
    stage.wait_for_condition(TABLES, "watched", "CommitSafe", "True")
    stage.create(asked_for("watched", "compact-1"))
    compaction = stage.wait_for_pod(of="watched")
    assert _job(stage, compaction)["sinceSnapshot"] == 812
    foreign = {"snapshotId": 813, "commitUser": "somebody", "kind": "APPEND", "time": "2026-11-21T08:00:00Z"}
    stage.succeed(compaction, seenSnapshot=814, outsideCommit=foreign)

    unsafe = stage.wait_for_condition(TABLES, "watched", "CommitSafe", "False", "OutsideCommit")
    assert "snapshot 813 (APPEND, 2026-11-21T08:00:00Z) was made by commit user somebody" in unsafe["message"]
    stage.wait_for_condition(TABLES, "watched", "Stalled", "True", "CommitUnsafe")
    stage.wait_for_condition(CATALOGS, "lake", "CommitSafe", "False")
    assert stage.get(TABLES, "watched")["status"]["outsideWriters"]["commit"] == foreign
    stage.wait_for_event("CommitUnsafe", "snapshot 813")

    stage.create(asked_for("watched", "compact-2"))
    stage.patch(TABLES, "watched", {"spec": {"externalWriters": "Paused"}})
    again = stage.wait_for_pod(of="watched")
    assert "sinceSnapshot" not in _job(stage, again)
    stage.wait_for_condition(TABLES, "watched", "CommitSafe", "True", "SingleCommitter")
    stage.wait_for_condition(CATALOGS, "lake", "CommitSafe", "True")
    stage.succeed(again, seenSnapshot=815)
    stage.wait(
        lambda: stage.get(TABLES, "watched")["status"]["outsideWriters"].get("seenSnapshot") == 815, "the new start"
    )


def test_a_run_of_a_user_is_done_told_and_deleted_when_its_time_has_passed(stage: Stage) -> None:
    make(stage, plain("asked"))
    stage.create(run(metadata__name="short", spec__tableRef__name="asked", spec__ttlAfterFinished="2s"))
    some = {"strategy": "Full", "partitions": [{"dt": "2026-11-22"}]}
    stage.create(run(metadata__name="long", spec__tableRef__name="asked", spec__compact=some))
    seen = []
    for _ in range(2):
        pod = stage.wait_for_pod(of="asked")
        seen.append(stage.run_of(pod)[0])
        if seen[-1] == "long":
            assert _job(stage, pod)["compact"]["partitions"] == some["partitions"]
            assert stage.get(TABLES, "asked")["status"]["activeRun"]["partial"] is True
        stage.succeed(pod)
    assert set(seen) == {"short", "long"}
    stage.wait(lambda: stage.find(RUNS, "short") is None, "deleted after its time")
    stays = stage.wait(lambda: _released(stage.get(RUNS, "long")), "the other one let go")
    assert stays["status"]["reason"]["trigger"] == "User"


def test_by_the_mode_auto_a_table_that_has_grown_is_compacted_by_executors(stage: Stage) -> None:
    stage.core.create_namespaced_service_account(stage.namespace, {"metadata": {"name": "paimon-driver"}})
    stage.create_catalog(metadata__name="auto", spec__spark={"mode": "Auto"})
    make(stage, plain("grown", spec__catalogRef={"name": "auto"}))
    grown = {"schemaId": 0, "snapshotId": 2, "bucketMode": "Dynamic", "files": 9, "rows": 20_000_000, "sizeBytes": 9}
    accounts = []
    for name in ("while-small", "when-large"):
        stage.create(run(metadata__name=name, spec__tableRef__name="grown"))
        pod = stage.wait_for_pod(of="grown")
        accounts.append(pod.spec.service_account_name)
        stage.run_pod(pod)
        stage.succeed(pod, table=grown)
        stage.wait_for_condition(RUNS, name, "Succeeded", "True")

    assert accounts == ["default", "paimon-driver"]
    decided = stage.get(RUNS, "when-large")["status"]["spark"]
    assert decided["mode"] == "Cluster"
    assert "the table had 20000000 rows and 9 bytes, not below the limit" in decided["message"]


def test_a_drop_that_is_made_to_look_like_the_operator_s_gets_no_pod(stage: Stage) -> None:
    """No admission policy is here that would refuse it: the table's own status must name the run."""
    make(stage, plain("precious", spec__deletionPolicy="Delete"))
    forged = {"spec__type": "Drop", "spec__compact": REMOVED, "spec__trigger": {"type": "Deletion"}}
    stage.create(run(metadata__name="forged", spec__tableRef__name="precious", **forged))
    waits = stage.wait_for_condition(RUNS, "forged", "Succeeded", "Unknown", "WaitingForTable")
    assert "status.activeRun of PaimonTable precious does not name this run" in waits["message"]
    assert [pod.metadata.name for pod in stage.pods() if stage.run_of(pod)[0] == "forged"] == []


def test_deleted_with_retain_a_table_is_let_go_at_once_without_a_run(stage: Stage) -> None:
    make(stage, plain("retained"))
    stage.delete(TABLES, "retained")
    stage.wait(lambda: stage.find(TABLES, "retained") is None, "the object gone")
    stage.wait(lambda: not [run for run in stage.all(RUNS) if run["spec"]["tableRef"]["name"] == "retained"], "no runs")
    assert [pod.metadata.name for pod in stage.pods() if "retained-drop" in pod.metadata.name] == []


def test_deleted_with_delete_the_drop_is_tried_again_until_it_works_and_says_why(stage: Stage) -> None:
    make(stage, plain("dropped", spec__deletionPolicy="Delete"))
    stage.delete(TABLES, "dropped")
    drop = stage.wait_for_pod(of="dropped")
    assert stage.run_of(drop)[1] == "Drop"
    error = {"class": "Environment", "reason": "StorageUnreachable", "message": "s3.example does not answer"}
    stage.end_with_error(drop, exit_code=25, error=error | {"remedy": "Mend it."})
    stalled = stage.wait_for_condition(TABLES, "dropped", "Stalled", "True", "DropFailing")
    assert "s3.example does not answer" in stalled["message"]
    assert "Retain" in stalled["message"], "the way out"
    stage.patch(TABLES, "dropped", {"metadata": {"annotations": {"paimon-operator.dev/skip-drop": "true"}}})
    stage.wait(lambda: stage.find(TABLES, "dropped") is None, "the object gone")


def test_deleted_under_way_the_pod_is_gone_before_the_object(stage: Stage) -> None:
    stage.create(plain("cancelled"))
    pod = stage.wait_for_pod(of="cancelled")
    stage.run_pod(pod)
    stage.core.patch_namespaced_pod(
        pod.metadata.name, stage.namespace, {"metadata": {"finalizers": [FINALIZER, "test.example/kubelet"]}}
    )
    stage.delete(TABLES, "cancelled")
    stage.wait(lambda: _leaving(stage, pod), "the Pod asked to go")
    assert stage.find(TABLES, "cancelled") is not None
    stage.end_pod(pod, exit_code=143, message="")
    stage.wait(lambda: not _guarded(stage, pod), "the Pod let go by us")
    stage.delete_pod(pod, force=True)
    assert stage.find(TABLES, "cancelled") is not None
    stage.core.patch_namespaced_pod(pod.metadata.name, stage.namespace, {"metadata": {"finalizers": None}})
    stage.wait(lambda: stage.find(TABLES, "cancelled") is None, "the object gone")


def test_a_catalog_in_use_is_kept_until_its_last_table_is_gone(stage: Stage) -> None:
    stage.create_catalog(metadata__name="pond", spec__warehouse="s3://pond/warehouse")
    make(stage, plain("fish", spec__catalogRef__name="pond"))
    stage.delete(CATALOGS, "pond")
    stage.wait_for_condition(CATALOGS, "pond", "Stalled", "True", "CatalogInUse")
    stage.delete(TABLES, "fish")
    stage.wait(lambda: stage.find(CATALOGS, "pond") is None, "the catalog gone")


def asked_for(table: str, name: str) -> Manifest:
    """A compaction as a user asks for it."""
    return run(metadata__name=name, spec__tableRef__name=table)


def _job(stage: Stage, pod: client.V1Pod) -> Manifest:
    job: Manifest = json.loads(
        stage.core.read_namespaced_config_map(stage.run_of(pod)[0], stage.namespace).data["job.json"]
    )
    return job


def _age(item: Manifest) -> float:
    created = datetime.fromisoformat(item["metadata"]["creationTimestamp"])
    return (datetime.now(UTC) - created).total_seconds()


def _released(run: Manifest) -> Manifest | None:
    return None if run["metadata"].get("finalizers") else run


def _guarded(stage: Stage, pod: client.V1Pod) -> bool:
    return FINALIZER in stage.core.read_namespaced_pod(pod.metadata.name, stage.namespace).metadata.finalizers


def _leaving(stage: Stage, pod: client.V1Pod) -> bool:
    return stage.core.read_namespaced_pod(pod.metadata.name, stage.namespace).metadata.deletion_timestamp is not None
