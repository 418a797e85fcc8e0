"""A second cluster on this machine: start, outages, a crash and complete removal.

The tests use one cluster, in the order of this file. The last one removes it.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ConnectionError as NoConnectionError
from botocore.exceptions import HTTPClientError

from tests.cluster import cgroups, mounts, network
from tests.cluster.images.deliver import deliver
from tests.cluster.images.recipes import operator_recipe
from tests.cluster.layout import Layout
from tests.cluster.node import Cluster
from tests.cluster.processes import start_time, wait_until
from tests.cluster.progress import CommandFailedError
from tests.cluster.services import SERVICES
from tests.e2e.own_node import cluster_in

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster_in(tmp_path_factory.mktemp("checkout")) as cluster:
        yield cluster


def s3_of(cluster: Cluster) -> Any:
    found = cluster.variables()
    return boto3.client(
        "s3",
        endpoint_url=found["AWS_ENDPOINT_URL"],
        region_name=found["AWS_REGION"],
        aws_access_key_id=found["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=found["AWS_SECRET_ACCESS_KEY"],
        config=Config(retries={"max_attempts": 0}, connect_timeout=2),
    )


def start_sleeper(cluster: Cluster, name: str) -> None:
    image = deliver(operator_recipe(), cluster.layout)
    cluster.kubectl("run", name, f"--image={image}", "--restart=Never", "--command", "--", "sleep", "3600")
    cluster.kubectl("wait", "--for=condition=Ready", f"pod/{name}", "--timeout=300s")


def host_interfaces() -> set[str]:
    return {path.name for path in Path("/sys/class/net").iterdir()}


def test_the_env_file_gives_access_to_the_node_and_its_buckets(second: Cluster) -> None:
    shell = f". {second.layout.env_file} && kubectl get node -o name && helm list --all-namespaces --short"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [f"node/{second.layout.name}"]
    assert [bucket["Name"] for bucket in s3_of(second).list_buckets()["Buckets"]] == ["lake", "landing"]


def test_a_second_up_changes_nothing(second: Cluster) -> None:
    def running() -> dict[str, int | None]:
        return {name: second.layout.daemon(name).pid() for name in SERVICES}

    before = running()
    assert None not in before.values()
    second.up()
    assert running() == before


def test_a_failed_build_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """containerd takes the images while the programs are built."""
    taken: list[int | None] = []

    def deliver_all(layout: Layout, _: Any) -> dict[str, Any]:
        taken.append(layout.daemon("containerd").pid())
        return {}

    def fail() -> None:
        assert wait_until(lambda: len(taken) > 0, timeout=60)
        raise CommandFailedError("no module proxy")

    monkeypatch.setattr("tests.cluster.node.build_all", lambda *_, **__: [])
    monkeypatch.setattr("tests.cluster.node.deliver_all", deliver_all)
    monkeypatch.setattr("tests.cluster.programs.build", fail)
    cluster = Cluster(Layout(tmp_path))

    with pytest.raises(CommandFailedError, match="no module proxy"):
        cluster.up_with_images()

    assert taken != [None]
    assert not network.exists(cluster.layout.name)
    assert not cgroups.exists(cluster.layout.name)


def test_up_after_the_loss_of_one_server_starts_all_again(second: Cluster) -> None:
    before = second.layout.daemon("kubelet").pid()
    second.stop_service("kube-apiserver")
    second.up()
    assert second.is_ready()
    assert second.layout.daemon("kubelet").pid() != before


def test_objects_outlive_an_outage_of_the_s3_server(second: Cluster) -> None:
    client = s3_of(second)
    client.put_object(Bucket="lake", Key="kept", Body=b"rows")
    second.stop_service("versitygw")
    with pytest.raises((NoConnectionError, HTTPClientError)):
        client.get_object(Bucket="lake", Key="kept")
    second.start_service("versitygw")
    assert client.get_object(Bucket="lake", Key="kept")["Body"].read() == b"rows"


def test_a_pod_keeps_running_during_a_restart_of_kubelet(second: Cluster) -> None:
    start_sleeper(second, "survivor")
    state = "jsonpath={.status.containerStatuses[0].containerID} {.status.containerStatuses[0].restartCount}"
    before = second.kubectl("get", "pod", "survivor", "-o", state)
    second.restart_kubelet()

    def answers() -> bool:
        try:
            return "sleep" in second.kubectl("exec", "survivor", "--", "cat", "/proc/1/cmdline")
        except CommandFailedError:
            return False  # kubelet is not back yet

    assert wait_until(answers, timeout=60, interval=0.5)
    assert second.kubectl("get", "pod", "survivor", "-o", state) == before


def test_up_after_a_crash_removes_the_remains_and_starts_an_empty_cluster(second: Cluster) -> None:
    old = set(cgroups.members(second.layout.name))
    for name in ("containerd", "kube-apiserver", "kubelet", "forward"):
        pid = second.layout.daemon(name).pid()
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
    assert not second.is_ready()
    second.up()
    assert second.is_ready()
    assert not old & set(cgroups.members(second.layout.name)), "processes from before the crash still run"
    assert second.kubectl("get", "pods", "--all-namespaces", "-o", "name") == ""


def test_down_removes_everything_and_does_not_affect_the_other_cluster(second: Cluster) -> None:
    own_was_ready, interfaces = Cluster().is_ready(), host_interfaces()
    start_sleeper(second, "last")
    layout = second.layout
    running = {pid: start_time(pid) for pid in cgroups.members(layout.name)}
    assert len(running) > 10, "the control plane, the node and a pod"

    second.down()

    assert {pid for pid, started in running.items() if start_time(pid) == started} == set()
    assert not network.exists(layout.name)
    assert host_interfaces() == interfaces
    assert mounts.mounted_below(layout.run, layout.kubelet, layout.state) == []
    assert not cgroups.exists(layout.name)
    assert not layout.run.exists()
    assert not layout.kubelet.exists()
    assert Cluster().is_ready() == own_was_ready
