"""The life cycle of tables with the real operator process: creation, writes, claims, deletion."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from paimon_operator.core.naming import FINALIZER
from tests.apiserver.api import create_account
from tests.apiserver.pod import Pod
from tests.apiserver.replicas import stage_with_operator
from tests.apiserver.stage import CATALOGS, RUNS, TABLES, Stage, conditions, if_released
from tests.cluster.apiserver import ApiServer
from tests.support.manifests import REMOVED, Manifest, edited, keyed_table, run


@pytest.fixture(scope="module", autouse=True)
def stage(api_server: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage_with_operator(api_server, "main-road", tmp_path_factory.mktemp("operator")) as stage:
        yield stage


def table_without_writes(name: str, **edits: object) -> Manifest:
    return edited(keyed_table(spec__writes=REMOVED), metadata__name=name, **edits)


def create_ready(stage: Stage, manifest: Manifest) -> Manifest:
    """Creates a table and returns it once it is Ready."""
    name = manifest["metadata"]["name"]
    stage.create(manifest)
    stage.succeed(stage.wait_for_pod(of=name))
    stage.wait_for_condition(TABLES, name, "Ready", "True", "TableMatchesSpec")
    return stage.get(TABLES, name)


def test_a_table_is_created_and_its_scheduled_write_runs(stage: Stage) -> None:
    stage.create(keyed_table(spec__writes__0__trigger__schedule="* * * * *"))
    provision = stage.wait_for_pod(of="orders")
    assert stage.run_type(provision) == "Provision"
    assert conditions(stage.get(TABLES, "orders"))["Ready"]["status"] != "True"
    stage.run_pod(provision)
    stage.succeed(provision)

    stage.wait_for_condition(TABLES, "orders", "Ready", "True", "TableMatchesSpec")
    stage.wait_for_condition(CATALOGS, "lake", "Ready", "True")
    write = stage.wait_for_pod(of="orders")
    assert stage.run_type(write) == "Write"
    stage.run_pod(write)
    stage.succeed(write)
    written = stage.wait(
        lambda: stage.get(TABLES, "orders")["status"]["writes"][0].get("committedSnapshot"), "the write's snapshot"
    )
    assert written == 1
    for name in (provision.run, write.run):
        run = wait_until_released(stage, name)
        assert run["status"]["phase"] == "Succeeded"
        assert len(run["status"]["attempts"]) == 1
    stage.wait_for_event("Started")
    stage.wait_for_event("TableMatchesSpec")
    metadata = stage.get(TABLES, "orders")["metadata"]
    assert (metadata["finalizers"], metadata.get("annotations")) == (["paimon-operator.dev/finalizer"], None)
    stage.patch(TABLES, "orders", {"spec": {"suspend": True}})


def test_the_job_of_a_pod_is_an_immutable_config_map_and_the_pod_only_refers_to_secrets(stage: Stage) -> None:
    stage.create(table_without_writes("frozen"))
    pod = stage.wait_for_pod(of="frozen")
    assert stage.core.read_namespaced_config_map(pod.run, stage.namespace).immutable
    assert read_job(stage, pod)["operation"] == "Provision"
    references = {
        variable["name"]: variable["valueFrom"]["secretKeyRef"]["name"]
        for variable in pod.container["env"]
        if "valueFrom" in variable
    }
    assert set(references.values()) == {"lake-s3"}
    assert set(references) == {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}
    stage.succeed(pod)
    stage.wait_for_condition(TABLES, "frozen", "Ready", "True")


def test_an_infrastructure_failure_is_retried_and_a_spec_error_is_not(stage: Stage) -> None:
    stage.create(table_without_writes("failing"))
    first = stage.wait_for_pod(of="failing")
    stage.run_pod(first)
    stage.end_pod(first, exit_code=1, message="a node went away")
    second = stage.wait_for_pod(of="failing")
    assert second.name == first.name[:-1] + "2"
    error = {"class": "Spec", "reason": "TableDiffers", "field": "spec.schema", "message": "it has another column"}
    assert stage.run_type(second) == "Provision"
    stage.end_with_error(second, exit_code=20, error=error | {"remedy": "Rename the object."})
    stalled = stage.wait_for_condition(TABLES, "failing", "Stalled", "True", "TableDiffers")
    assert "it has another column" in stalled["message"]
    attempts = stage.get(RUNS, second.run)["status"]["attempts"]
    assert [attempt["failureClass"] for attempt in attempts] == ["Infrastructure", "Spec"]
    stage.wait_for_event("TableDiffers")


def test_a_second_object_for_one_table_names_the_first_in_its_status_and_starts_no_run(stage: Stage) -> None:
    first = create_ready(stage, table_without_writes("claimed"))
    stage.wait(lambda: age_s(first) > 1, "a different creation time, which has whole seconds")
    stage.create(table_without_writes("claimed-again", spec__table="claimed"))
    stalled = stage.wait_for_condition(TABLES, "claimed-again", "Stalled", "True", "TableClaimed")
    assert f"{stage.namespace}/claimed " in stalled["message"]
    assert [run for run in stage.all(RUNS) if run["spec"]["tableRef"]["name"] == "claimed-again"] == []
    stage.delete(TABLES, "claimed")
    stage.succeed(stage.wait_for_pod(of="claimed-again"))
    stage.wait_for_condition(TABLES, "claimed-again", "Ready", "True")


def test_a_foreign_commit_stops_the_table_until_the_user_declares_external_writers(stage: Stage) -> None:
    stage.create(table_without_writes("watched"))
    stage.succeed(stage.wait_for_pod(of="watched"), seenSnapshot=812)
    stage.wait_for_condition(TABLES, "watched", "CommitSafe", "True")
    stage.create(compaction_of("watched", "compact-1"))
    compaction = stage.wait_for_pod(of="watched")
    assert read_job(stage, compaction)["sinceSnapshot"] == 812
    foreign = {"snapshotId": 813, "commitUser": "somebody", "kind": "APPEND", "time": "2026-11-21T08:00:00Z"}
    stage.succeed(compaction, seenSnapshot=814, outsideCommit=foreign)

    unsafe = stage.wait_for_condition(TABLES, "watched", "CommitSafe", "False", "OutsideCommit")
    assert "snapshot 813 (APPEND, 2026-11-21T08:00:00Z) was made by commit user somebody" in unsafe["message"]
    stage.wait_for_condition(TABLES, "watched", "Stalled", "True", "CommitUnsafe")
    stage.wait_for_condition(CATALOGS, "lake", "CommitSafe", "False")
    assert stage.get(TABLES, "watched")["status"]["outsideWriters"]["commit"] == foreign
    stage.wait_for_event("CommitUnsafe", "snapshot 813")

    stage.create(compaction_of("watched", "compact-2"))
    stage.patch(TABLES, "watched", {"spec": {"externalWriters": "Paused"}})
    again = stage.wait_for_pod(of="watched")
    assert "sinceSnapshot" not in read_job(stage, again)
    stage.wait_for_condition(TABLES, "watched", "CommitSafe", "True", "SingleCommitter")
    stage.wait_for_condition(CATALOGS, "lake", "CommitSafe", "True")
    stage.succeed(again, seenSnapshot=815)
    stage.wait(
        lambda: stage.get(TABLES, "watched")["status"]["outsideWriters"].get("seenSnapshot") == 815,
        "the last snapshot inspected",
    )


def test_a_run_of_a_user_is_executed_and_deleted_when_its_ttl_has_passed(stage: Stage) -> None:
    create_ready(stage, table_without_writes("asked"))
    stage.create(run(metadata__name="short", spec__tableRef__name="asked", spec__ttlAfterFinished="2s"))
    some = {"strategy": "Full", "partitions": [{"dt": "2026-11-22"}]}
    stage.create(run(metadata__name="long", spec__tableRef__name="asked", spec__compact=some))
    executed = []
    for _ in range(2):
        pod = stage.wait_for_pod(of="asked")
        executed.append(pod.run)
        if pod.run == "long":
            assert read_job(stage, pod)["compact"]["partitions"] == some["partitions"]
            assert stage.get(TABLES, "asked")["status"]["activeRun"]["partial"] is True
        stage.succeed(pod)
    assert set(executed) == {"short", "long"}
    stage.wait(lambda: stage.find(RUNS, "short") is None, "the deletion of the run after its ttl")
    assert wait_until_released(stage, "long")["status"]["reason"]["trigger"] == "User"


def test_in_mode_auto_a_table_that_has_grown_is_compacted_by_executors(stage: Stage) -> None:
    create_account(stage.client, stage.namespace, "paimon-driver")
    stage.create_catalog(metadata__name="auto", spec__spark={"mode": "Auto"})
    create_ready(stage, table_without_writes("grown", spec__catalogRef={"name": "auto"}))
    grown = {"schemaId": 0, "snapshotId": 2, "bucketMode": "Dynamic", "files": 9, "rows": 20_000_000, "sizeBytes": 9}
    accounts = []
    for name in ("while-small", "when-large"):
        stage.create(run(metadata__name=name, spec__tableRef__name="grown"))
        pod = stage.wait_for_pod(of="grown")
        accounts.append(pod.account)
        stage.run_pod(pod)
        stage.succeed(pod, table=grown)
        stage.wait_for_condition(RUNS, name, "Succeeded", "True")

    assert accounts == ["default", "paimon-driver"]
    decided = stage.get(RUNS, "when-large")["status"]["spark"]
    assert decided["mode"] == "Cluster"
    assert "the table had 20000000 rows and 9 bytes, not below the limit" in decided["message"]


def test_a_forged_drop_gets_no_pod(stage: Stage) -> None:
    """No admission policy refuses the run here. The operator starts it only if the table's status names it."""
    create_ready(stage, table_without_writes("precious", spec__deletionPolicy="Delete"))
    forged = {"spec__type": "Drop", "spec__compact": REMOVED, "spec__trigger": {"type": "Deletion"}}
    stage.create(run(metadata__name="forged", spec__tableRef__name="precious", **forged))
    waits = stage.wait_for_condition(RUNS, "forged", "Succeeded", "Unknown", "WaitingForTable")
    assert "status.activeRun of PaimonTable precious does not name this run" in waits["message"]
    assert [pod.name for pod in stage.pods() if pod.run == "forged"] == []


def test_deleted_with_retain_a_table_is_released_without_a_run(stage: Stage) -> None:
    create_ready(stage, table_without_writes("retained"))
    stage.delete(TABLES, "retained")
    wait_until_deleted(stage, TABLES, "retained")
    stage.wait(lambda: not [run for run in stage.all(RUNS) if run["spec"]["tableRef"]["name"] == "retained"], "no runs")
    assert [pod.name for pod in stage.pods() if "retained-drop" in pod.name] == []


def test_deleted_with_delete_a_failing_drop_blocks_the_deletion_until_the_user_skips_it(stage: Stage) -> None:
    create_ready(stage, table_without_writes("dropped", spec__deletionPolicy="Delete"))
    stage.delete(TABLES, "dropped")
    drop = stage.wait_for_pod(of="dropped")
    assert stage.run_type(drop) == "Drop"
    error = {"class": "Environment", "reason": "StorageUnreachable", "message": "s3.example does not answer"}
    stage.end_with_error(drop, exit_code=25, error=error | {"remedy": "Fix it."})
    stalled = stage.wait_for_condition(TABLES, "dropped", "Stalled", "True", "DropFailing")
    assert "s3.example does not answer" in stalled["message"]
    assert "Retain" in stalled["message"], "the override"
    stage.patch(TABLES, "dropped", {"metadata": {"annotations": {"paimon-operator.dev/skip-drop": "true"}}})
    wait_until_deleted(stage, TABLES, "dropped")


def test_a_table_deleted_during_a_run_is_released_after_its_pod(stage: Stage) -> None:
    stage.create(table_without_writes("cancelled"))
    pod = stage.wait_for_pod(of="cancelled")
    stage.run_pod(pod)
    stage.set_pod_finalizers(pod, [FINALIZER, "test.example/kubelet"])
    stage.delete(TABLES, "cancelled")
    stage.wait(lambda: stage.read_pod(pod).is_terminating, "a terminating Pod")
    assert stage.find(TABLES, "cancelled") is not None
    stage.end_pod(pod, exit_code=143, message="")
    stage.wait(lambda: FINALIZER not in stage.read_pod(pod).finalizers, "the operator's finalizer removed")
    stage.delete_pod(pod, force=True)
    assert stage.find(TABLES, "cancelled") is not None
    stage.set_pod_finalizers(pod, None)
    wait_until_deleted(stage, TABLES, "cancelled")


def test_a_catalog_in_use_is_kept_until_its_last_table_is_deleted(stage: Stage) -> None:
    stage.create_catalog(metadata__name="pond", spec__warehouse="s3://pond/warehouse")
    create_ready(stage, table_without_writes("fish", spec__catalogRef__name="pond"))
    stage.delete(CATALOGS, "pond")
    stage.wait_for_condition(CATALOGS, "pond", "Stalled", "True", "CatalogInUse")
    stage.delete(TABLES, "fish")
    wait_until_deleted(stage, CATALOGS, "pond")


def compaction_of(table: str, name: str) -> Manifest:
    """Returns a compaction that a user requests."""
    return run(metadata__name=name, spec__tableRef__name=table)


def read_job(stage: Stage, pod: Pod) -> Manifest:
    """Returns the job of the Pod's run from its ConfigMap."""
    data = stage.core.read_namespaced_config_map(pod.run, stage.namespace).data
    assert data is not None
    job: Manifest = json.loads(data["job.json"])
    return job


def age_s(item: Manifest) -> float:
    created = datetime.fromisoformat(item["metadata"]["creationTimestamp"])
    return (datetime.now(UTC) - created).total_seconds()


def wait_until_released(stage: Stage, run: str) -> Manifest:
    """Returns the run once it has no finalizer."""
    return stage.wait(lambda: if_released(stage.get(RUNS, run)), f"run {run} without finalizer")


def wait_until_deleted(stage: Stage, plural: str, name: str) -> None:
    stage.wait(lambda: stage.find(plural, name) is None, f"the deletion of {plural}/{name}")
