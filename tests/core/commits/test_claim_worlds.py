"""Random worlds of PaimonTables and PaimonCatalogs in several namespaces, with aliases of one warehouse.

`make properties` runs 10,000 of them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.run.status import FailureClass, RunTrigger
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import ActiveRun, LastFailure, Ownership, ProvisionState, TableStatus
from paimon_operator.core.commits.table_claims import ObjectKey, TableClaimIndex
from paimon_operator.core.spec.place import place_of
from tests.support import builders
from tests.support.random_examples import examples

NAMESPACES = ("shop", "rival", "web")
ALIASES = ("http://minio.shop:9000", "http://MINIO.shop.svc:9000/", "http://minio.shop.svc.cluster.local:9000")
"""One server under three names; `http://minio:9000` is it in the namespace shop only."""
ENDPOINTS = (*ALIASES, "http://minio:9000", "https://other.example.com", None)
UNREACHED = ("AccessDenied", "StorageUnreachable", "Conflict")


@dataclass(frozen=True)
class World:
    """Tables with their catalogs, as the API server holds them."""

    tables: tuple[PaimonTable, ...]
    catalogs: dict[ObjectKey, PaimonCatalog]

    def catalog(self, table: PaimonTable) -> PaimonCatalog | None:
        return self.catalogs.get((table.metadata.namespace, table.spec.catalog_ref.name))

    def index(self, order: list[PaimonTable] | None = None) -> TableClaimIndex:
        """The index of a process that has seen the tables in this order."""
        index = TableClaimIndex(is_valid)
        for table in order or self.tables:
            index.put(table, self.catalog(table))
        return index

    def places(self) -> dict[str, list[PaimonTable]]:
        """The tables by the place that they have now."""
        found = defaultdict(list)
        for table in self.tables:
            catalog, proof = self.catalog(table), table.status.ownership
            if catalog is not None and is_valid(catalog):
                found[place_of(table, catalog)].append(table)
            elif proof is not None:
                found[proof.place].append(table)
        return found


def is_valid(catalog: PaimonCatalog) -> bool:
    """In these worlds a suspended catalog stands for an invalid one."""
    return not catalog.spec.suspend


mostly = st.sampled_from((True, True, True, True, False))
"""Most objects meet at one place: where they do not, there is nothing to decide."""


@st.composite
def worlds(draw: st.DrawFn) -> World:
    catalogs = {}
    for namespace in NAMESPACES:
        for name in ("lake", "pond"):
            if draw(mostly):
                catalogs[namespace, name] = draw(catalogs_of(namespace, name))
    tables = []
    for number in range(draw(st.integers(2, 6))):
        namespace, name = draw(st.sampled_from(NAMESPACES)), draw(st.sampled_from(("lake", "pond")))
        tables.append(draw(tables_of(f"t{number}", namespace, name, catalogs.get((namespace, name)))))
    return World(tuple(tables), catalogs)


@st.composite
def catalogs_of(draw: st.DrawFn, namespace: str, name: str) -> PaimonCatalog:
    endpoint = draw(st.sampled_from(ALIASES) if draw(mostly) else st.sampled_from(ENDPOINTS))
    server = {} if endpoint is None else {"endpoint": endpoint}
    return builders.catalog(
        name,
        namespace,
        warehouse="s3://lake/warehouse" if draw(mostly) else "s3://lake/other",
        storage={"s3": {"region": "us-east-1"} | server},
        allowedDatabases=["shop"] if draw(mostly) else ["other"],
        suspend=not draw(mostly),
    )


@st.composite
def tables_of(draw: st.DrawFn, name: str, namespace: str, lake: str, catalog: PaimonCatalog | None) -> PaimonTable:
    table = builders.table(
        name,
        namespace,
        metadata={"creationTimestamp": builders.CREATED - timedelta(minutes=draw(st.integers(0, 5)))},
        catalogRef={"name": lake},
        database="shop",
        table="orders" if draw(mostly) else "clicks",
        adoptionPolicy=draw(st.sampled_from(("AdoptIfIdentical", "AdoptIfIdentical", "Adopt"))),
    )
    failure = draw(st.sampled_from((None, "TableDiffers", *UNREACHED)))
    proof = draw(st.integers(-4, 4))
    status = TableStatus(
        active_run=draw(st.sampled_from((None, None, None, a_run()))),
        provision=None
        if failure is None
        else ProvisionState(
            failure=failed(failure),
            found_at=None if failure in UNREACHED or catalog is None else place_of(table, catalog),
        ),
        ownership=None
        if proof < 0 or catalog is None
        else Ownership(place=place_of(table, catalog), since=builders.NOW - timedelta(minutes=proof)),
    )
    return table.model_copy(update={"status": status})


def a_run() -> ActiveRun:
    return ActiveRun(name="r", uid="u", type="Compact", trigger=RunTrigger.SCHEDULE)


def failed(reason: str) -> LastFailure:
    return LastFailure(
        run="r", failure_class=FailureClass.SPEC, reason=reason, message="failed", time=builders.NOW, count=1
    )


def is_proven(table: PaimonTable) -> bool:
    return table.status.ownership is not None


def has_read_the_table(table: PaimonTable) -> bool:
    failure = table.status.provision.failure if table.status.provision else None
    return failure is not None and failure.reason not in UNREACHED


pytestmark = pytest.mark.worlds
many = settings(max_examples=examples(100))


@many
@given(worlds())
def test_a_place_has_at_most_one_holder(world: World) -> None:
    """Of the objects with proof, or with a run, at most one waits for nobody."""
    index = world.index()
    for tables in world.places().values():
        claiming = [each for each in tables if is_proven(each) or each.status.active_run]
        free = [each for each in claiming if index.holder(each, world.catalog(each)) is None]
        assert len(free) <= 1


@many
@given(worlds())
def test_no_object_without_proof_stops_one_with_proof_unless_its_run_is_active(world: World) -> None:
    index = world.index()
    for table in filter(is_proven, world.tables):
        holder = index.holder(table, world.catalog(table))
        assert holder is None or holder.proven is not None or holder.busy


@many
@given(worlds())
def test_an_object_that_no_run_has_brought_to_the_table_stops_nobody(world: World) -> None:
    index = world.index()
    unable = {
        table.metadata.name
        for table in world.tables
        if not is_proven(table) and table.status.active_run is None and not has_read_the_table(table)
    }
    holders = (index.holder(table, world.catalog(table)) for table in world.tables)
    assert not unable & {holder.name for holder in holders if holder is not None}


@many
@given(worlds(), st.randoms(use_true_random=False))
def test_order_of_arrival_and_restarts_change_nothing(world: World, random: Random) -> None:
    order = list(world.tables)
    random.shuffle(order)
    first, second = world.index(), world.index(order)
    for table in world.tables:
        assert first.holder(table, world.catalog(table)) == second.holder(table, world.catalog(table))


@many
@given(worlds(), st.randoms(use_true_random=False))
def test_two_objects_never_have_a_run_on_one_place(world: World, random: Random) -> None:
    """Every object starts a run as soon as it may. The runs that a world begins with have ended."""
    tables = [t.model_copy(update={"status": t.status.model_copy(update={"active_run": None})}) for t in world.tables]
    idle = World(tuple(tables), world.catalogs)
    index, running = idle.index(), set()
    for _ in range(12):
        table = random.choice(tables)
        catalog = idle.catalog(table)
        if table.metadata.name in running:
            index.confirm(*(table.metadata.namespace, table.metadata.name))
            index.put(table, catalog)
            running.discard(table.metadata.name)
        elif index.holder(table, catalog) is None and catalog is not None:
            index.reserve(
                table.model_copy(update={"status": table.status.model_copy(update={"active_run": a_run()})}), catalog
            )
            running.add(table.metadata.name)
        at_work = [place for place, there in idle.places().items() for each in there if each.metadata.name in running]
        assert len(at_work) == len(set(at_work))
