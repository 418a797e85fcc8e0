"""Every example can be applied unchanged: tables become Ready, runs succeed, roles are admitted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
import yaml

from tests.cluster import release
from tests.e2e.disks import disk
from tests.e2e.lab import Lab
from tests.support.kubectl import Kubectl, Object

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ELSEWHERE = frozenset({"hdfs", "kerberos", "jdbc", "hive", "quickstart"})
"""They name servers that a cluster has or has not: test_hdfs.py, test_jdbc_metastore.py, test_hive_metastore.py. The
quickstart has a namespace of its own: test_quickstart.py."""


def documents(path: Path, kind: str = "") -> Iterator[Object]:
    """Returns the objects of an example, or those of one kind."""
    return (each for each in yaml.safe_load_all(path.read_text()) if kind in ("", each["kind"]))


def with_a(kind: str) -> list[Path]:
    """Returns the examples with an object of this kind."""
    return [
        path for path in sorted(EXAMPLES.glob("*.yaml")) if any(documents(path, kind)) and path.stem not in ELSEWHERE
    ]


def every_third(paths: Sequence[Path]) -> list[object]:
    """Returns the parameters for the examples: every third one runs in `make test`, the rest in `make test-long`."""
    return [
        pytest.param(path, id=path.stem, marks=pytest.mark.long if number % 3 else ())
        for number, path in enumerate(paths)
    ]


def test_all_objects_of_the_examples_have_different_names() -> None:
    """Tests and users apply the examples into one namespace."""
    names = [(each["kind"], each["metadata"].get("name")) for path in with_a("PaimonTable") for each in documents(path)]
    assert len(set(names)) == len(names), sorted(names)


@pytest.mark.parametrize("path", every_third(with_a("PaimonTable")))
def test_the_example_becomes_a_table(path: Path, cluster_env: Mapping[str, str]) -> None:
    shop = Kubectl(namespace=release.SHOP, env=cluster_env)
    new = [each for each in documents(path) if shop.get(each["kind"], each["metadata"]["name"]) is None]
    with ExitStack() as disks:
        for claim in documents(path, "PersistentVolumeClaim"):
            disks.enter_context(disk(shop, claim["metadata"]["name"]))
        shop.run("apply", "--server-side", "--force-conflicts", "-f", str(path))
        try:
            for table in documents(path, "PaimonTable"):
                shop.until_condition(table["metadata"]["name"], "Ready", "True")
        finally:
            for each in reversed(new):  # their schedules would run during the other tests; the demo's objects stay
                shop.delete(each["kind"], each["metadata"]["name"], wait=True)


@pytest.mark.long
class TestRuns:
    """The runs of the examples on two tables, in turn."""

    @pytest.fixture(scope="class")
    @classmethod
    def made(cls, class_lab: Lab) -> Lab:
        columns = {"dt": "DATE", "page": "STRING"}
        visits = class_lab.table("visits", columns, retention={"partitions": {"expirationTime": "365d"}})
        visits["spec"]["schema"]["partitionKeys"] = ["dt"]
        visits["spec"]["markPartitionsDone"] = {"timeInterval": "1d", "idleTime": "1h"}
        class_lab.kubectl.apply(class_lab.table("orders", {"order_id": "BIGINT"}, keys=["order_id"]), visits)
        for name in ("orders", "visits"):
            class_lab.ready(name)
        return class_lab

    @pytest.mark.parametrize("path", with_a("PaimonRun"), ids=lambda path: path.stem)
    def test_the_example_succeeds(self, path: Path, made: Lab) -> None:
        run = yaml.safe_load(path.read_text())
        run["metadata"]["namespace"] = made.namespace
        created = made.kubectl.run("create", "-o", "name", "-f", "-", stdin=yaml.safe_dump(run))
        name = created.strip().partition("/")[2]
        made.kubectl.until_condition(name, "Succeeded", "True", kind="paimonrun")


def test_the_roles_are_admitted(cluster_env: Mapping[str, str]) -> None:
    for path in with_a("RoleBinding"):
        Kubectl(namespace=release.SHOP, env=cluster_env).run("apply", "--dry-run=server", "-f", str(path))
