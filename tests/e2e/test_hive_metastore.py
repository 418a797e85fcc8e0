"""Catalogs with a Hive metastore: life cycle, the lock of a dead driver, outage, and the example."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import ClassVar

import pytest
import yaml

from tests.cluster.hive.metastore import Metastore
from tests.e2e.hive_lab import HiveLab
from tests.e2e.lab import Lab
from tests.e2e.labs import hive_lab_in, name_of
from tests.e2e.lifecycle import ShortLife, drop, live
from tests.support.kubectl import condition

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
pytestmark = pytest.mark.xdist_group("postgres")
"""In turn: the metastore keeps what it knows in the node's one PostgreSQL."""

DRIVERS = "app.kubernetes.io/managed-by=paimon-operator,!paimon-operator.dev/role"


@pytest.mark.long
class TestLifeInTheMetastore(ShortLife):
    locks: ClassVar[Callable[[], list[str]]]
    """Those that were asked for since the namespace was made."""

    @pytest.fixture(scope="class")
    @classmethod
    def lived(
        cls, request: pytest.FixtureRequest, cluster_env: Mapping[str, str], engine: str, hive: Metastore
    ) -> Iterator[HiveLab]:
        with (
            hive_lab_in(cluster_env, name_of(request, engine), engine, hive) as made,
            hive.noting_locks() as cls.locks,
        ):
            yield made

    def check_loaded(self, lived: Lab) -> None:
        assert isinstance(lived, HiveLab)
        assert lived.listed() == "orders"
        assert set(type(self).locks()) == {lock_of_commits(lived)}

    def check_dropped(self, lived: Lab) -> None:
        assert isinstance(lived, HiveLab)
        assert lived.listed() == ""


def lock_of_commits(lab: HiveLab) -> str:
    """Returns the host name that all drivers of the table `orders` share in their locks."""
    (host,) = {pod["spec"]["hostname"] for pod in lab.pods(DRIVERS)}
    return f"{lab.database}|orders|e|{host}"


@pytest.mark.long
def test_the_life_cycle_of_a_table_in_the_metastore(hive_lab: HiveLab) -> None:
    lab = hive_lab
    with lab.hive.noting_locks() as taken:
        live(lab)
        assert set(taken()) == {lock_of_commits(lab)}
    assert lab.listed() == "orders"

    drop(lab)
    assert lab.listed() == ""


@pytest.mark.long
def test_an_outage_of_the_metastore_is_reported_and_ends(hive_lab: HiveLab, *, by_an_edit: bool) -> None:
    lab = hive_lab
    lab.hive.stop()
    try:
        lab.kubectl.apply(lab.table("t", {"id": "BIGINT"}))
        failed = lab.kubectl.until(
            "paimontable",
            "t",
            lambda o: "MetastoreUnreachable" in str((o or {}).get("status")),
            what="with the reason that the metastore does not answer",
        )
    finally:
        lab.hive.start()
    assert "spec.metastore.hive.uri" in str(failed)
    if by_an_edit:
        lab.kubectl.apply(lab.table("t", {"id": "BIGINT", "later": "INT"}))
    lab.ready("t")
    assert lab.listed() == "t"


@pytest.mark.long
def test_the_example_becomes_a_table_with_external_writers(hive_lab: HiveLab) -> None:
    lab = hive_lab
    catalog, table = lab.placed(yaml.safe_load_all((EXAMPLES / "hive.yaml").read_text()))
    catalog["spec"]["metastore"]["hive"]["uri"] = lab.hive.uri
    lab.kubectl.apply(catalog, table)

    name = table["metadata"]["name"]
    lab.ready(name)
    for kind, of in (("paimontable", name), ("paimoncatalog", catalog["metadata"]["name"])):
        found = condition(lab.kubectl.get(kind, of), "CommitSafe")
        assert (found["status"], found["reason"]) == ("True", "CommitLock"), kind
