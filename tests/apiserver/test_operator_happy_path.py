"""The life cycle of tables with the real operator process: creation, writes, claims, deletion."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from paimon_operator.core.naming import FINALIZER
from tests.apiserver.api import create_account
from tests.apiserver.namespace_client import CATALOGS, RUNS, TABLES, NamespaceClient, conditions, if_released
from tests.apiserver.replicas import namespace_with_operator
from tests.cluster.apiserver import ApiServer
from tests.cluster.audit import FAILED_TEST, audited_requests
from tests.support.manifests import REMOVED, Manifest, edited, keyed_table, run

WRONG = 422
"""HTTP status of an object, a status or a patch that the API server finds wrong."""


@pytest.fixture(scope="module", autouse=True)
def ns(api_server: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NamespaceClient]:
    with namespace_with_operator(api_server, "happy-path", tmp_path_factory.mktemp("operator")) as ns:
        yield ns


def table_without_writes(name: str, **edits: object) -> Manifest:
    return edited(keyed_table(spec__writes=REMOVED), metadata__name=name, **edits)


def create_ready(ns: NamespaceClient, manifest: Manifest) -> Manifest:
    """Creates a table and returns it once it is Ready."""
    name = manifest["metadata"]["name"]
    ns.create(manifest)
    ns.succeed(ns.wait_for_pod(of=name))
    ns.wait_for_condition(TABLES, name, "Ready", "True", "TableMatchesSpec")
    return ns.get(TABLES, name)


def test_a_table_is_created_and_its_scheduled_write_runs(ns: NamespaceClient) -> None:
    ns.create(keyed_table(spec__writes__0__trigger__schedule="* * * * *"))
    provision = ns.wait_for_pod(of="orders")
    assert ns.run_type(provision) == "Provision"
    assert conditions(ns.get(TABLES, "orders"))["Ready"]["status"] != "True"
    ns.run_pod(provision)
    ns.succeed(provision)

    ns.wait_for_condition(TABLES, "orders", "Ready", "True", "TableMatchesSpec")
    ns.wait_for_condition(CATALOGS, "lake", "Ready", "True")
    write = ns.wait_for_pod(of="orders")
    assert ns.run_type(write) == "Write"
    ns.run_pod(write)
    ns.succeed(write)
    written = ns.wait(
        lambda: ns.get(TABLES, "orders")["status"]["writes"][0].get("committedSnapshot"), "the write's snapshot"
    )
    assert written == 1
    for name in (provision.run, write.run):
        run = wait_until_released(ns, name)
        assert run["status"]["phase"] == "Succeeded"
        assert len(run["status"]["attempts"]) == 1
    ns.wait_for_event("RunSucceeded")
    metadata = ns.get(TABLES, "orders")["metadata"]
    assert (metadata["finalizers"], metadata.get("annotations")) == (["paimon-operator.dev/finalizer"], None)
    ns.patch(TABLES, "orders", {"spec": {"suspend": True}})


def test_the_job_of_a_pod_is_an_immutable_config_map_and_the_pod_only_refers_to_secrets(ns: NamespaceClient) -> None:
    ns.create(table_without_writes("frozen"))
    pod = ns.wait_for_pod(of="frozen")
    assert ns.core.read_namespaced_config_map(pod.config_map, ns.namespace).immutable
    assert ns.read_job(pod)["operation"] == "Provision"
    references = {
        variable["name"]: variable["valueFrom"]["secretKeyRef"]["name"]
        for variable in pod.container["env"]
        if "valueFrom" in variable
    }
    assert set(references.values()) == {"lake-s3"}
    assert set(references) == {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}
    ns.succeed(pod)
    ns.wait_for_condition(TABLES, "frozen", "Ready", "True")


def test_an_infrastructure_failure_is_retried_and_a_spec_error_is_not(ns: NamespaceClient) -> None:
    ns.create(table_without_writes("failing"))
    first = ns.wait_for_pod(of="failing")
    ns.run_pod(first)
    ns.end_pod(first, exit_code=1, message="a node went away")
    second = ns.wait_for_pod(of="failing")
    assert second.name == first.name[:-1] + "2"
    error = {"class": "Spec", "reason": "TableDiffers", "field": "spec.schema", "message": "it has another column"}
    assert ns.run_type(second) == "Provision"
    ns.end_with_error(second, exit_code=20, error=error | {"remedy": "Rename the object."})
    stalled = ns.wait_for_condition(TABLES, "failing", "Stalled", "True", "TableDiffers")
    assert "it has another column" in stalled["message"]
    attempts = ns.get(RUNS, second.run)["status"]["attempts"]
    assert [attempt["failureClass"] for attempt in attempts] == ["Infrastructure", "Spec"]
    ns.wait_for_event("TableDiffers")


def test_a_second_object_for_one_table_names_the_first_in_its_status_and_starts_no_run(ns: NamespaceClient) -> None:
    first = create_ready(ns, table_without_writes("claimed"))
    ns.wait(lambda: age_s(first) > 1, "a different creation time, which has whole seconds")
    ns.create(table_without_writes("claimed-again", spec__table="claimed"))
    stalled = ns.wait_for_condition(TABLES, "claimed-again", "Stalled", "True", "TableClaimed")
    assert "PaimonTable claimed manages the same table" in stalled["message"]
    assert [run for run in ns.all(RUNS) if run["spec"]["tableRef"]["name"] == "claimed-again"] == []
    ns.delete(TABLES, "claimed")
    ns.succeed(ns.wait_for_pod(of="claimed-again"))
    ns.wait_for_condition(TABLES, "claimed-again", "Ready", "True")


def test_a_foreign_commit_stops_the_table_until_the_user_declares_external_writers(ns: NamespaceClient) -> None:
    ns.create(table_without_writes("watched"))
    ns.succeed(ns.wait_for_pod(of="watched"), seenSnapshot=812)
    ns.wait_for_condition(TABLES, "watched", "CommitSafe", "True")
    ns.create(compaction_of("watched", "compact-1"))
    compaction = ns.wait_for_pod(of="watched")
    assert ns.read_job(compaction)["sinceSnapshot"] == 812
    foreign = {"snapshotId": 813, "commitUser": "somebody", "kind": "APPEND", "time": "2026-11-21T08:00:00Z"}
    ns.succeed(compaction, seenSnapshot=814, outsideCommit=foreign)

    unsafe = ns.wait_for_condition(TABLES, "watched", "CommitSafe", "False", "OutsideCommit")
    assert "snapshot 813 (APPEND, 2026-11-21T08:00:00Z) was made by commit user somebody" in unsafe["message"]
    ns.wait_for_condition(TABLES, "watched", "Stalled", "True", "CommitUnsafe")
    ns.wait_for_condition(CATALOGS, "lake", "CommitSafe", "False")
    assert ns.get(TABLES, "watched")["status"]["outsideWriters"]["commit"] == foreign
    ns.wait_for_event("CommitUnsafe", "snapshot 813")

    ns.create(compaction_of("watched", "compact-2"))
    ns.patch(TABLES, "watched", {"spec": {"externalWriters": "Paused"}})
    again = ns.wait_for_pod(of="watched")
    assert "sinceSnapshot" not in ns.read_job(again)
    ns.wait_for_condition(TABLES, "watched", "CommitSafe", "True", "SingleCommitter")
    ns.wait_for_condition(CATALOGS, "lake", "CommitSafe", "True")
    ns.succeed(again, seenSnapshot=815)
    ns.wait(
        lambda: ns.get(TABLES, "watched")["status"]["outsideWriters"].get("seenSnapshot") == 815,
        "the last snapshot inspected",
    )


def test_a_run_of_a_user_is_executed_and_deleted_when_its_ttl_has_passed(ns: NamespaceClient) -> None:
    create_ready(ns, table_without_writes("asked"))
    ns.create(run(metadata__name="short", spec__tableRef__name="asked", spec__ttlAfterFinished="2s"))
    some = {"strategy": "Full", "partitions": [{"dt": "2026-11-22"}]}
    ns.create(run(metadata__name="long", spec__tableRef__name="asked", spec__compact=some))
    executed = []
    for _ in range(2):
        pod = ns.wait_for_pod(of="asked")
        executed.append(pod.run)
        if pod.run == "long":
            assert ns.read_job(pod)["compact"]["partitions"] == some["partitions"]
            assert ns.get(TABLES, "asked")["status"]["activeRun"]["partial"] is True
        ns.succeed(pod)
    assert set(executed) == {"short", "long"}
    ns.wait(lambda: ns.find(RUNS, "short") is None, "the deletion of the run after its ttl")
    assert wait_until_released(ns, "long")["status"]["reason"]["trigger"] == "User"


def test_in_mode_auto_a_table_that_has_grown_is_compacted_by_executors(ns: NamespaceClient) -> None:
    create_account(ns.client, ns.namespace, "paimon-driver")
    ns.create_catalog(metadata__name="auto", spec__spark={"mode": "Auto"})
    create_ready(ns, table_without_writes("grown", spec__catalogRef={"name": "auto"}))
    grown = {"schemaId": 0, "snapshotId": 2, "bucketMode": "Dynamic", "files": 9, "rows": 20_000_000, "sizeBytes": 9}
    accounts = []
    for name in ("while-small", "when-large"):
        ns.create(run(metadata__name=name, spec__tableRef__name="grown"))
        pod = ns.wait_for_pod(of="grown")
        accounts.append(pod.account)
        ns.run_pod(pod)
        ns.succeed(pod, table=grown)
        ns.wait_for_condition(RUNS, name, "Succeeded", "True")

    assert accounts == ["default", "paimon-driver"]
    decided = ns.get(RUNS, "when-large")["status"]["spark"]
    assert decided["mode"] == "Cluster"
    assert "the table had 20000000 rows and 9 bytes, not below the limit" in decided["message"]


def test_a_forged_drop_gets_no_pod(ns: NamespaceClient) -> None:
    """No admission policy refuses the run here. The operator starts it only if the table's status names it."""
    create_ready(ns, table_without_writes("precious", spec__deletionPolicy="Delete"))
    forged = {"spec__type": "Drop", "spec__compact": REMOVED, "spec__trigger": {"type": "Deletion"}}
    ns.create(run(metadata__name="forged", spec__tableRef__name="precious", **forged))
    waits = ns.wait_for_condition(RUNS, "forged", "Succeeded", "Unknown", "WaitingForTable")
    assert "status.activeRun of PaimonTable precious does not name this run" in waits["message"]
    assert [pod.name for pod in ns.pods() if pod.run == "forged"] == []


def test_deleted_with_retain_a_table_is_released_without_a_run(ns: NamespaceClient) -> None:
    create_ready(ns, table_without_writes("retained"))
    ns.delete(TABLES, "retained")
    wait_until_deleted(ns, TABLES, "retained")
    ns.wait(lambda: not [run for run in ns.all(RUNS) if run["spec"]["tableRef"]["name"] == "retained"], "no runs")
    assert [pod.name for pod in ns.pods() if "retained-drop" in pod.name] == []


def test_deleted_with_delete_a_failing_drop_blocks_the_deletion_until_the_user_skips_it(ns: NamespaceClient) -> None:
    create_ready(ns, table_without_writes("dropped", spec__deletionPolicy="Delete"))
    ns.delete(TABLES, "dropped")
    drop = ns.wait_for_pod(of="dropped")
    assert ns.run_type(drop) == "Drop"
    error = {"class": "Environment", "reason": "StorageUnreachable", "message": "s3.example does not answer"}
    ns.end_with_error(drop, exit_code=25, error=error | {"remedy": "Fix it."})
    stalled = ns.wait_for_condition(TABLES, "dropped", "Stalled", "True", "DropFailing")
    assert "s3.example does not answer" in stalled["message"]
    assert "Retain" in stalled["message"], "the override"
    ns.patch(TABLES, "dropped", {"metadata": {"annotations": {"paimon-operator.dev/skip-drop": "true"}}})
    wait_until_deleted(ns, TABLES, "dropped")


def test_a_table_deleted_during_a_run_is_released_after_its_pod(ns: NamespaceClient) -> None:
    ns.create(table_without_writes("cancelled"))
    pod = ns.wait_for_pod(of="cancelled")
    ns.run_pod(pod)
    ns.set_pod_finalizers(pod, [FINALIZER, "test.example/kubelet"])
    ns.delete(TABLES, "cancelled")
    ns.wait(lambda: ns.read_pod(pod).is_terminating, "a terminating Pod")
    assert ns.find(TABLES, "cancelled") is not None
    ns.end_pod(pod, exit_code=143, message="")
    ns.wait(lambda: FINALIZER not in ns.read_pod(pod).finalizers, "the operator's finalizer removed")
    ns.delete_pod(pod, force=True)
    assert ns.find(TABLES, "cancelled") is not None
    ns.set_pod_finalizers(pod, None)
    wait_until_deleted(ns, TABLES, "cancelled")


def test_a_catalog_in_use_is_kept_until_its_last_table_is_deleted(ns: NamespaceClient) -> None:
    ns.create_catalog(metadata__name="pond", spec__warehouse="s3://pond/warehouse")
    create_ready(ns, table_without_writes("fish", spec__catalogRef__name="pond"))
    ns.delete(CATALOGS, "pond")
    ns.wait_for_condition(CATALOGS, "pond", "Stalled", "True", "CatalogInUse")
    ns.delete(TABLES, "fish")
    wait_until_deleted(ns, CATALOGS, "pond")


def test_the_operator_sends_nothing_that_the_api_server_finds_wrong(ns: NamespaceClient, api_server: ApiServer) -> None:
    """No finalizer is added to an object that is being deleted, and no status is refused: in all tests above."""
    create_ready(ns, table_without_writes("in-foreground"))
    ns.delete(TABLES, "in-foreground", cascade="Foreground")
    wait_until_deleted(ns, TABLES, "in-foreground")
    sent = [each for each in audited_requests(api_server.audit_log) if each.namespace == ns.namespace]
    wrong = [each for each in sent if each.code == WRONG and FAILED_TEST not in each.message]
    assert [(each.verb, each.resource, each.name, each.message) for each in wrong] == []


def compaction_of(table: str, name: str) -> Manifest:
    """Returns a compaction that a user requests."""
    return run(metadata__name=name, spec__tableRef__name=table)


def age_s(item: Manifest) -> float:
    created = datetime.fromisoformat(item["metadata"]["creationTimestamp"])
    return (datetime.now(UTC) - created).total_seconds()


def wait_until_released(ns: NamespaceClient, run: str) -> Manifest:
    """Returns the run once it has no finalizer."""
    return ns.wait(lambda: if_released(ns.get(RUNS, run)), f"run {run} without finalizer")


def wait_until_deleted(ns: NamespaceClient, plural: str, name: str) -> None:
    ns.wait(lambda: ns.find(plural, name) is None, f"the deletion of {plural}/{name}")
