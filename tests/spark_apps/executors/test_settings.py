"""The Spark side of mode Cluster without Spark: its settings, its shared secret and its descriptions of Pods."""

# ruff: noqa: E501 - decision tables: one row is one line

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paimon_contract.job import JobExecutors, JobRun, JobSpark
from spark_apps.driver.main import new_session
from spark_apps.executors.diagnostics import describe_pod
from spark_apps.executors.settings import host
from spark_apps.executors.shared_secret import as_spark_reads_it, shared_secret
from tests.spark_apps.jobs import job

POD = {
    "POD_IP": "10.0.0.7",
    "POD_NAME": "orders-compact-1-1",
    "API_ACCESS": "/etc/paimon-api",
    "EXECUTOR_IMAGE": "paimon-spark",
    "EXECUTOR_PULL_POLICY": "Never",
    "EXECUTOR_TEMPLATE": "/etc/paimon-run/executor.json",
    "RUN_UID": "uid-1",
    "SHARED_SECRETS": "KEY",
    "KEY": "from the storage's Secret",
}
EXECUTORS = JobExecutors(3, 2, 500, 640, 384, "paimon-spark", 300)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in {**POD, "TMPDIR": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)


def options(conf: dict[str, str] | None = None, *, executors: JobExecutors | None = EXECUTORS) -> dict[str, str]:
    spark = JobSpark(conf=conf or {}, executors=executors)
    return new_session(job(run=JobRun("orders-compact-1", "uid-1", "shop"), spark=spark))._spark_options()


def test_shuffles_have_four_partitions_per_core_of_all_executors_unless_the_catalog_sets_a_number() -> None:
    assert options()["spark.sql.shuffle.partitions"] == "24"
    assert options({"spark.sql.shuffle.partitions": "7"})["spark.sql.shuffle.partitions"] == "7"


@pytest.mark.parametrize(
    "key",
    [
        "spark.authenticate",
        "spark.network.crypto.enabled",
        "spark.kubernetes.container.image",
        "spark.sql.ansi.enabled",
    ],
)
def test_no_setting_of_a_catalog_overrides_the_operators(key: str) -> None:
    assert options({key: "something else"})[key] == options()[key] != "something else"


@pytest.mark.parametrize("key", ["spark.authenticate", "spark.network.crypto.enabled", "spark.io.encryption.enabled"])
def test_connections_are_authenticated_and_encrypted_and_spilled_data_is_encrypted(key: str) -> None:
    assert options()[key] == "true"


def test_lost_executors_count_as_failures_for_ten_minutes() -> None:
    assert options()["spark.executor.failuresValidityInterval"] == "10m"


def test_a_driver_without_executors_has_no_kubernetes_setting() -> None:
    assert not [key for key in options(executors=None) if "kubernetes" in key or "authenticate" in key]


def test_executors_that_share_a_secret_with_the_driver_authenticate_by_a_file(tmp_path: Path) -> None:
    files = {options()[f"spark.authenticate.secret.{side}.file"] for side in ("driver", "executor")}
    assert files == {str(tmp_path / "executors.secret")}
    assert (tmp_path / "executors.secret").read_bytes() == shared_secret(POD["POD_NAME"])
    assert (tmp_path / "executors.secret").stat().st_mode & 0o077 == 0


def test_without_a_shared_secret_spark_generates_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHARED_SECRETS", "")
    assert shared_secret("app") is None
    assert not [key for key in options() if key.startswith("spark.authenticate.secret")]


@pytest.mark.parametrize(
    ("name", "value"), [("KEY", "another"), ("RUN_UID", "uid-2"), ("SHARED_SECRETS", "KEY POD_IP")]
)
def test_the_secret_differs_for_another_key_and_for_another_run(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    before = shared_secret("app")
    monkeypatch.setenv(name, value)
    assert shared_secret("app") not in (None, before)


def test_the_secret_differs_for_another_attempt() -> None:
    assert shared_secret("run-1") != shared_secret("run-2")


def test_the_secret_is_derived_from_mounted_files_without_hidden_directories(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mounted = tmp_path / "keytab"
    (mounted / "..2026").mkdir(parents=True)
    monkeypatch.setenv("SHARED_SECRETS", str(mounted))
    assert shared_secret("app") is None
    (mounted / "paimon.keytab").write_bytes(b"key")
    first = shared_secret("app")
    assert first is not None
    (mounted / "..2026_1").mkdir()
    assert shared_secret("app") == first
    assert as_spark_reads_it(b"key") == "a2V5"


@pytest.mark.parametrize(("address", "expected"), [("10.0.0.7", "10.0.0.7"), ("fd00::7", "[fd00::7]")])
def test_an_ipv6_address_is_a_host_in_brackets(monkeypatch: pytest.MonkeyPatch, address: str, expected: str) -> None:
    monkeypatch.setenv("POD_IP", address)
    assert host() == expected


def container(**state: Any) -> dict[str, Any]:
    return {"phase": "Pending", "containerStatuses": [{"name": "executor", "state": state}]}


@pytest.mark.parametrize(
    ("status", "description"),
    [
        ({"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/1 nodes"}]}, "no node takes pod p: 0/1 nodes"),
        (container(waiting={"reason": "ErrImagePull", "message": "not found"}), "pod p waits: ErrImagePull not found"),
        (container(waiting={"reason": "ContainerCreating"}), "pod p waits: ContainerCreating"),
        (container(terminated={"exitCode": 1, "reason": "Error"}), "pod p ended with exit code 1 (Error); see its log"),
        (container(running={"startedAt": "now"}), "pod p is Pending"),
        ({"phase": "Failed", "reason": "Evicted"}, "pod p is Failed Evicted"),
        ({}, "pod p is unknown"),
    ],
)  # fmt: skip
def test_the_state_of_an_executor_pod_is_described_in_one_line(status: dict[str, Any], description: str) -> None:
    assert describe_pod({"metadata": {"name": "p"}, "status": status}) == description
