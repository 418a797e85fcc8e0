"""Tables that are applied together on a real node share drivers, and a kill costs only the runs in their turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from paimon_contract.turns import TURNS_AT_ONCE
from tests.cluster import release
from tests.e2e.kills import kill_shared_driver
from tests.e2e.lab import Lab
from tests.e2e.labs import Node
from tests.support.kubectl import Object

TABLES = [f"t{number}" for number in range(3 * TURNS_AT_ONCE)]
"""So many that the driver still has turns to take when the end of the first one is seen here."""
SHARED = "paimon-operator.dev/role=batch"
COLUMNS = {"id": "BIGINT", "v": "STRING"}


@pytest.fixture
def sharing(node: Node) -> Iterator[None]:
    """The operator of the second node, with shared Pods."""
    release.install(node.env, node.images, batching={"enabled": True, "window": "3s"})
    yield
    release.install(node.env, node.images)


def done(runs: Sequence[Object]) -> list[str]:
    """Tables whose run has succeeded. The operator stores that before it answers the driver."""
    succeeded = [run for run in runs if run.get("status", {}).get("phase") == "Succeeded"]
    return [run["spec"]["tableRef"]["name"] for run in succeeded]


def running(pods: Sequence[Object]) -> list[Object]:
    return [pod for pod in pods if pod["status"].get("phase") == "Running"]


@pytest.mark.long
@pytest.mark.own_node
@pytest.mark.usefixtures("sharing")
def test_after_the_kill_of_a_shared_driver_only_what_is_not_known_to_be_done_is_repeated(lab: Lab) -> None:
    lab.kubectl.apply(*(lab.table(name, COLUMNS) for name in TABLES))
    pods = running(lab.kubectl.until_list("pod", SHARED, running, what="running"))
    known = done(lab.kubectl.until_list("paimonrun", "", done, what="ended"))
    assert sum(map(kill_shared_driver, pods)) > 0

    for name in TABLES:
        lab.ready(name)
    attempts = {name: run["status"]["attempts"] for name in TABLES for run in lab.runs(name, "Provision")}
    assert list(attempts) == TABLES
    assert [len(lab.runs(name, "Provision")) for name in TABLES] == [1] * len(TABLES)
    assert {name: [each.get("shared") for each in attempts[name]] for name in known} == {key: [True] for key in known}
    repeated = [name for name in TABLES if len(attempts[name]) > 1]
    assert len(repeated) <= TURNS_AT_ONCE * len(pods), "the runs in their turns, in each Pod that was killed"
    assert all(len(attempts[name]) == 2 and "shared" not in attempts[name][1] for name in repeated)
    assert len(lab.pods()) <= len(repeated) + 3, "those that wait share Pods: a Pod each would be many more"
    for name in TABLES:
        files = [key.rpartition("/")[2] for key in lab.keys(f"{lab.database}.db/{name}/schema/")]
        # A driver that is killed between its write of a schema and its rename leaves a hidden file, which nobody reads.
        assert [file for file in files if not file.startswith(".")] == ["schema-0"]
