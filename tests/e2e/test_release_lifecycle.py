"""The life cycle of a release on its own node: upgrade from an earlier commit, uninstallation, installation, standby.

The tests use one release, in the order of this file.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.cluster import release
from tests.e2e.kills import OPERATOR_LABEL, driver_held, kill_container
from tests.e2e.own_node import OwnNode, cluster_in, searched

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]  # the first one can build the earlier images
ITS_OWN_ADDRESS: dict[str, Any] = {"service": {}}
"""The Service keeps the address that the earlier release got."""
PASSED = (True, ["kinds: ok", "rights: ok", "leader: ok", "health: ok"])


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnNode]:
    with cluster_in(tmp_path_factory.mktemp("checkout")) as cluster, searched(cluster) as made:
        yield made


def test_an_upgrade_starts_no_run_and_an_active_run_ends_once(node: OwnNode) -> None:
    node.install_earlier()
    kubectl = node.lab.kubectl
    kubectl.apply(node.fill("kept", "kept/1.json", range(10)))
    node.lab.settled("kept")
    kubectl.apply(node.fill("moving", "moving/1.json", range(20)))
    run, done = node.wait_for_running_driver("moving"), node.work("kept")
    with driver_held(run):
        node.install(**ITS_OWN_ADDRESS)

    node.lab.settled("moving")
    assert node.is_written_once("moving")
    assert node.ids("moving") == list(range(20))
    assert node.work("kept") == done
    assert node.helm_test() == PASSED


def test_tables_outlive_the_release_and_are_adopted_without_a_run(node: OwnNode) -> None:
    kubectl = node.lab.kubectl
    before = {table: node.work(table) for table in ("kept", "moving")}
    uid = (kubectl.get("paimontable", "kept") or {})["metadata"]["uid"]
    done = node.helm("uninstall", release.RELEASE, "--wait", "--cascade=foreground")
    assert done.returncode == 0, done.stderr
    assert node.system.list("pod", OPERATOR_LABEL) == []
    assert (kubectl.get("paimontable", "kept") or {})["metadata"]["uid"] == uid
    assert node.ids("kept") == list(range(10))

    node.install(**ITS_OWN_ADDRESS)
    kubectl.apply(node.fill("later", "later/1.json", range(5)))
    node.lab.settled("later")  # the new operator has reconciled every object
    assert {table: node.work(table) for table in before} == before
    assert node.ids("kept") == list(range(10))
    kubectl.apply(node.fill("kept", "kept/2.json", range(10, 15)))
    kubectl.until("paimontable", "kept", lambda _: len(node.lab.runs("kept", "Write")) == 2, what="written again")
    node.lab.settled("kept")
    assert node.ids("kept") == list(range(15))


def test_a_killed_leader_is_replaced_by_its_standby_and_the_run_ends_once(node: OwnNode) -> None:
    node.install(**ITS_OWN_ADDRESS, replicas=2)  # waits until both are Ready
    node.system.until(
        "poddisruptionbudget", release.RELEASE, lambda o: o and o["status"]["currentHealthy"] == 2, what="fulfilled"
    )
    node.lab.kubectl.apply(node.fill("twice", "twice/1.json", range(30)))
    with driver_held(node.wait_for_running_driver("twice")):
        leader = node.lease()["holderIdentity"]
        assert kill_container(leader.partition("_")[0]) > 0
        last = node.lease()
        node.system.until(
            "lease",
            release.RELEASE,
            lambda o: o and o["spec"]["holderIdentity"] not in ("", leader),
            what="held by another",
        )
    first = node.lease()
    took = datetime.fromisoformat(first["acquireTime"]) - datetime.fromisoformat(last["renewTime"])
    logging.getLogger(__name__).warning("the standby took over %.1f s after the last renewal", took.total_seconds())
    assert took >= timedelta(seconds=last["leaseDurationSeconds"]), "the killed leader's time"

    node.lab.settled("twice")
    assert node.is_written_once("twice")
    assert node.ids("twice") == list(range(30))


def test_helm_test_fails_for_a_right_too_much_and_for_a_right_too_few(node: OwnNode) -> None:
    node.install(**ITS_OWN_ADDRESS, watchNamespaces=[release.SHOP])
    assert node.helm_test() == PASSED

    account = f"--serviceaccount={release.NAMESPACE}:{release.RELEASE}"
    node.system.run("create", "clusterrolebinding", "too-much", "--clusterrole=view", account)
    passed, found = node.helm_test()
    assert not passed
    assert "rights: the operator may list pods in all namespaces" in found
    node.system.run("delete", "clusterrolebinding", "too-much")

    shop = node.lab.kubectl
    rules = (shop.get("role", release.RELEASE) or {})["rules"]
    number = next(i for i, rule in enumerate(rules) if "pods" in rule["resources"])
    shop.run("patch", "role", release.RELEASE, "--type=json", f'-p=[{{"op":"remove","path":"/rules/{number}"}}]')
    passed, found = node.helm_test()
    assert not passed
    assert "rights: the operator may not create pods in namespace shop" in found
