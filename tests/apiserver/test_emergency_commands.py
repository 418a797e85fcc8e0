"""The commands of emergency.md, troubleshooting.md and monitoring.md on a real API server, with a real kubectl.

`helm` is not among them: tests/apiserver/test_helm_release.py rolls a release back with the page's commands, and the
Pod of `helm test` needs a node (tests/e2e/own_node.py).
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import yaml

from tests.apiserver.api import Body
from tests.apiserver.bad_hour import (
    ARGOCD,
    BY_HAND,
    TABLE,
    WITH_LOG,
    BadHour,
    lake,
    name_of,
    serving_a_bad_hour,
)
from tests.apiserver.crds import CRDS
from tests.apiserver.namespace_client import RUNS, TABLES
from tests.apiserver.page_commands import run_commands
from tests.cluster.apiserver import ApiServer
from tests.support.docs_commands import blocks_below, blocks_of, replaced

FILES: Final = CRDS.parent / "charts" / "paimon-operator" / "files"
MONITORING: Final = "docs/monitoring.md"
EMERGENCY: Final = "docs/emergency.md"
LOOK, _ROLL_BACK, _HELM_TEST = blocks_below(EMERGENCY, "## The operator is down", "console")
SUSPEND_ALL, DELETE_RUNS, STOP_ALL, GO_ON = blocks_below(EMERGENCY, "## Stop everything now", "console")
STOP_RUN, KEEP_DATA, EFFECTIVE = blocks_below(EMERGENCY, "## A run deletes what it must not", "console")
HALT, APPLY_ALL, OLD_ID, START = blocks_below(EMERGENCY, "## The API server lost objects", "console")
WAIT = blocks_below(MONITORING, "## Wait for an object", "console")[0].splitlines()
(HEALTH_CHECKS,) = blocks_below(MONITORING, "## Argo CD", "console")
READING: Final = [
    line
    for block in (LOOK, EFFECTIVE, OLD_ID, *blocks_of("docs/troubleshooting.md", "console"))
    for line in block.splitlines()
    if not line.startswith("helm ")
]
"""Commands that change nothing. Each is one line."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    with serving_a_bad_hour(tmp_path_factory) as server:
        yield server


@pytest.fixture
def hour(server: ApiServer) -> Iterator[BadHour]:
    hour = BadHour(server)
    hour.begin()
    yield hour
    hour.end()


def test_a_command_to_read_prints_something(hour: BadHour) -> None:
    silent = [line for line in dict.fromkeys(READING) if not run_commands(hour.kubeconfig, line).strip()]
    assert silent == []


def test_all_catalogs_are_suspended(hour: BadHour) -> None:
    run_commands(hour.kubeconfig, SUSPEND_ALL)
    assert [each["spec"]["suspend"] for each in hour.catalogs()] == [True, True]


def test_the_runs_that_have_not_ended_are_deleted(hour: BadHour) -> None:
    run_commands(hour.kubeconfig, DELETE_RUNS)
    assert sorted(hour.objects.names("PaimonRun")) == sorted(map(name_of, ("Succeeded", "Failed", "Unknown")))


def test_no_operator_is_left_and_all_driver_pods_of_the_namespace_are_deleted(hour: BadHour) -> None:
    run_commands(hour.kubeconfig, STOP_ALL)
    assert hour.replicas() == 0
    left = {pod.name: pod.is_terminating for pod in hour.shop.pods()}
    assert left == {WITH_LOG: True, "of-somebody": False}, "the kubelet removes the Pod on a node"


def test_afterwards_an_operator_runs_and_the_catalog_is_not_suspended(hour: BadHour) -> None:
    run_commands(hour.kubeconfig, SUSPEND_ALL + HALT)
    assert hour.replicas() == 0
    run_commands(hour.kubeconfig, GO_ON)
    assert hour.replicas() == 1
    assert [each["spec"]["suspend"] for each in hour.catalogs()] == [False, True]


def test_a_run_is_stopped_and_no_other_of_its_table_starts(hour: BadHour) -> None:
    before, name = hour.objects.names("PaimonRun"), name_of("Running")
    run_commands(hour.kubeconfig, replaced(STOP_RUN, {"NAME": name}))
    assert hour.shop.get(TABLES, "orders")["spec"]["suspend"] is True
    assert hour.objects.names("PaimonRun") == [each for each in before if each != name]


def test_the_data_of_a_table_that_is_being_deleted_are_kept(hour: BadHour) -> None:
    assert hour.shop.get(TABLES, "orders")["spec"]["deletionPolicy"] == "Delete"
    hour.shop.patch(TABLES, "orders", {"metadata": {"finalizers": ["paimon-operator.dev/finalizer"]}})
    hour.shop.delete(TABLES, "orders")
    run_commands(hour.kubeconfig, KEEP_DATA)
    kept = hour.shop.get(TABLES, "orders")
    assert "deletionTimestamp" in kept["metadata"]
    assert kept["spec"]["deletionPolicy"] == "Retain"


def test_lost_objects_come_back_from_their_manifests_and_the_operator_starts(hour: BadHour, tmp_path: Path) -> None:
    hour.objects.clear()
    assert hour.objects.names("PaimonTable") == []
    shutil.copytree(CRDS, tmp_path / "crds")
    (tmp_path / "manifests").mkdir()
    for number, manifest in enumerate((lake(), TABLE)):
        (tmp_path / "manifests" / f"{number}.yaml").write_text(yaml.safe_dump(manifest), encoding="utf-8")
    # `kubectl diff` ends with 1 if there are differences, and with more if it fails
    differ = {"kubectl diff -f manifests/": "kubectl diff -f manifests/ || [ $? = 1 ]"}

    run_commands(hour.kubeconfig, HALT + replaced(APPLY_ALL, differ), cwd=tmp_path)

    assert hour.replicas() == 0
    found = [hour.objects.names(kind) for kind in ("PaimonCatalog", "PaimonTable")]
    assert found == [["lake"], ["orders"]]
    shown = run_commands(hour.kubeconfig, START)
    assert hour.replicas() == 1
    assert re.search(r"lake\b", shown)
    assert re.search(r"orders\b", shown)


@pytest.mark.parametrize("line", WAIT)
def test_a_command_waits_until_the_condition_is_true(hour: BadHour, line: str) -> None:
    hour.report("False")
    hasty = re.sub(r"--timeout=\S+", "--timeout=1s", line)
    run_commands(hour.kubeconfig, f"! {hasty}")
    hour.report("True")
    assert "condition met" in run_commands(hour.kubeconfig, line)


def test_the_run_that_the_page_waits_for_is_that_of_the_examples(hour: BadHour) -> None:
    assert hour.shop.find(RUNS, BY_HAND["metadata"]["name"]) is not None
    assert any(f"prun/{BY_HAND['metadata']['name']} " in line for line in WAIT)


def test_argo_cd_gets_the_health_checks_beside_its_own_settings(hour: BadHour) -> None:
    settings: Body = {"metadata": {"name": "argocd-cm"}, "data": {"url": "https://argocd.example.com"}}
    hour.core.create_namespaced_config_map(ARGOCD, settings)
    run_commands(hour.kubeconfig, HEALTH_CHECKS, cwd=FILES)
    checks = yaml.safe_load((FILES / "argocd.yaml").read_text(encoding="utf-8"))
    stored = hour.core.read_namespaced_config_map("argocd-cm", ARGOCD).data
    assert stored == {"url": "https://argocd.example.com"} | checks
