"""The main road with the real operator process: a table is made and written; the test plays the kubelet."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.apiserver.operator_process import OperatorProcess
from tests.apiserver.stage import CATALOGS, RUNS, TABLES, Stage, conditions
from tests.cluster.apiserver import ApiServer
from tests.support.manifests import Manifest, keyed_table


@pytest.fixture(scope="module")
def stage(api_server: ApiServer) -> Iterator[Stage]:
    stage = Stage(api_server.kubeconfig, "main-road")
    yield stage
    stage.close()


@pytest.fixture(scope="module")
def operator(
    api_server: ApiServer, stage: Stage, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OperatorProcess]:
    logs = tmp_path_factory.mktemp("operator")
    with OperatorProcess(
        api_server.kubeconfig, logs, namespaces=[stage.namespace], lease_namespace=stage.namespace
    ) as operator:
        yield operator.wait_until_working()


def test_a_table_is_made_and_its_scheduled_write_runs(stage: Stage, operator: OperatorProcess) -> None:
    stage.create_catalog()
    stage.create(keyed_table(spec__writes__0__trigger__schedule="* * * * *"))

    provision = stage.wait_for_pod()
    assert stage.run_of(provision)[1] == "Provision"
    assert conditions(stage.get(TABLES, "orders"))["Ready"]["status"] != "True"
    stage.run_pod(provision)
    stage.succeed(provision)

    stage.wait_for_condition(TABLES, "orders", "Ready", "True", "TableMatchesSpec")
    stage.wait_for_condition(CATALOGS, "lake", "Ready", "True")
    write = stage.wait_for_pod()
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
    assert stage.events("Started")
    assert stage.events("TableMatchesSpec")


def _released(run: Manifest) -> Manifest | None:
    return None if run["metadata"].get("finalizers") else run
