"""A platform with users of its own and a quota of CPU limits: drivers and executors work as such a user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from tests.cluster import release
from tests.e2e.lab import Lab, once
from tests.e2e.lifecycle import CLUSTER
from tests.support.executor_namespace import account_objects
from tests.support.kubectl import Object

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("release")]  # one at a time changes the release

UID: Final = 1000680000
"""As OpenShift gives one to a namespace. The image knows no such user."""
QUOTA: Final[Object] = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "cpu"},
    "spec": {"hard": {"limits.cpu": "16"}},
}


@pytest.fixture
def platform(lab: Lab, cluster_env: Mapping[str, str]) -> Iterator[Lab]:
    """The namespace of `lab` on such a platform."""
    found = release.images()
    spark: dict[str, Any] = release.values(found)["spark"] | {"uid": UID, "cpuLimits": True}
    try:
        release.install(cluster_env, found, spark=spark)
        lab.kubectl.apply(QUOTA, *account_objects(lab.namespace))
        yield lab
    finally:
        release.deploy(cluster_env)


@pytest.mark.parametrize("mode", ["Local", "Cluster"])
def test_a_table_is_loaded_as_a_user_of_the_platform_within_its_quota(platform: Lab, mode: str) -> None:
    lab = platform
    lab.kubectl.apply(lab.catalog(spark=CLUSTER | {"mode": mode}))
    rows = [{"id": number, "v": "v"} for number in range(10)]
    lab.land("in/rows.json", rows)
    columns = {"id": "BIGINT", "v": "STRING"}
    lab.kubectl.apply(lab.table("t", columns, keys=["id"], writes=[once("rows", "in/rows.json")]))
    lab.settled("t")
    (write,) = lab.runs("t", "Write")
    assert write["status"]["spark"]["mode"] == mode
    users = {pod["spec"]["securityContext"]["runAsUser"] for pod in lab.pods()}
    limits = {pod["spec"]["containers"][0]["resources"]["limits"]["cpu"] for pod in lab.pods()}
    assert (users, limits) == ({UID}, {"1"})
    assert lab.rows("t") == rows
