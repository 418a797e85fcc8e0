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
from paimon_operator.api.table.ownership import Ownership
from paimon_operator.api.table.schedule_state import LastFailure
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.api.table.status import ActiveRun, ProvisionState, TableStatus
from paimon_operator.core.commits.table_claims import TableClaimIndex
from paimon_operator.core.naming import ObjectKey
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
            if (place := place_now(self, table)) is not None:
                found[place].append(table)
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
    here = place_of(table, catalog or draw(catalogs_of(namespace, lake)))
    moved = builders.catalog(lake, namespace, storage={"s3": {"region": "r", "endpoint": "https://moved.example.com"}})
    elsewhere = place_of(table, moved)
    status = TableStatus(
        active_run=draw(st.sampled_from((None, None, None, a_run(here), a_run(here, uid=None), a_refused_run(here)))),
        provision=draw(provisions(here, elsewhere)),
        ownership=draw(proofs(here, elsewhere)),
    )
    return table.model_copy(update={"status": status})


@st.composite
def provisions(draw: st.DrawFn, here: str, elsewhere: str) -> ProvisionState | None:
    """How the last run that was to establish the table ended."""
    failure = draw(st.sampled_from((None, "TableDiffers", *UNREACHED)))
    if failure is None:
        return None
    found_at = None if failure in UNREACHED else here if draw(st.booleans()) else elsewhere
    return ProvisionState(failure=failed(failure), found_at=found_at)


@st.composite
def proofs(draw: st.DrawFn, here: str, elsewhere: str) -> Ownership | None:
    """What runs have proved: mostly where the table is now, and mostly not lost since."""
    age = draw(st.integers(-4, 4))
    if age < 0:
        return None
    return Ownership(
        place=here if draw(mostly) else elsewhere,
        since=builders.NOW - timedelta(minutes=age),
        lost_at=None if draw(mostly) else builders.NOW,
    )


def a_run(place: str, *, uid: str | None = "u") -> ActiveRun:
    return ActiveRun(name="r", uid=uid, type="Compact", trigger=RunTrigger.SCHEDULE, place=place)


def a_refused_run(place: str) -> ActiveRun:
    """The API server refuses to create it."""
    return a_run(place, uid=None).model_copy(update={"blocked": True})


def failed(reason: str) -> LastFailure:
    return LastFailure(
        run="r", failure_class=FailureClass.SPEC, reason=reason, message="failed", time=builders.NOW, count=1
    )


def place_now(world: World, table: PaimonTable) -> str | None:
    """Where the table is: where its run is, else where its valid catalog has it, else where it was proved to be."""
    active, catalog, proof = table.status.active_run, world.catalog(table), table.status.ownership
    if active is not None and is_running(table):
        return active.place
    if catalog is not None and is_valid(catalog):
        return place_of(table, catalog)
    if proof is not None:
        return proof.place
    return None if catalog is None else place_of(table, catalog)


def is_running(table: PaimonTable) -> bool:
    active = table.status.active_run
    return active is not None and (active.uid is not None or not active.blocked)


def is_proven(world: World, table: PaimonTable) -> bool:
    proof = table.status.ownership
    return proof is not None and proof.lost_at is None and proof.place == place_now(world, table)


def has_read_the_table(world: World, table: PaimonTable) -> bool:
    """Whether its last run has read the table where it is now, and its next one could."""
    state, catalog = table.status.provision, world.catalog(table)
    able = catalog is not None and is_valid(catalog) and "shop" in catalog.spec.allowed_databases
    return able and state is not None and state.found_at is not None and state.found_at == place_now(world, table)


pytestmark = pytest.mark.worlds
many = settings(max_examples=examples(100))


@many
@given(worlds())
def test_a_place_has_at_most_one_holder(world: World) -> None:
    """Of the objects with proof, with a run or with a run that has read the table, exactly one waits for nobody."""
    index = world.index()
    for tables in world.places().values():
        able = [e for e in tables if is_proven(world, e) or is_running(e) or has_read_the_table(world, e)]
        free = [each for each in able if index.holder(each, world.catalog(each)) is None]
        assert len(free) == min(len(able), 1)


@many
@given(worlds())
def test_no_object_without_proof_stops_one_with_proof_unless_its_run_is_active(world: World) -> None:
    index = world.index()
    for table in world.tables:
        holder = index.holder(table, world.catalog(table))
        if holder is not None and is_proven(world, table):
            assert holder.busy or (holder.proven is not None and is_proven(world, named(world, holder.name)))


@many
@given(worlds())
def test_of_two_objects_with_proof_the_earlier_proof_wins_whatever_their_age(world: World) -> None:
    index = world.index()
    for table in world.tables:
        holder = index.holder(table, world.catalog(table))
        if holder is None or holder.busy or not is_proven(world, table):
            continue
        mine, other = table.status.ownership, named(world, holder.name).status.ownership
        assert mine is not None
        assert other is not None
        assert other.since <= mine.since


@many
@given(worlds())
def test_an_object_that_no_run_has_brought_to_the_table_stops_nobody(world: World) -> None:
    index = world.index()
    unable = {
        table.metadata.name
        for table in world.tables
        if not (is_proven(world, table) or is_running(table) or has_read_the_table(world, table))
    }
    holders = (index.holder(table, world.catalog(table)) for table in world.tables)
    assert not unable & {holder.name for holder in holders if holder is not None}


@many
@given(worlds(), st.randoms(use_true_random=False))
def test_order_of_arrival_and_restarts_change_nothing(world: World, random: Random) -> None:
    order = list(world.tables)
    random.shuffle(order)
    assert holders(world, world.index()) == holders(world, world.index(order))


@many
@given(worlds(), worlds(), st.randoms(use_true_random=False))
def test_a_process_that_has_seen_all_changes_decides_as_one_that_starts_now(
    before: World, after: World, random: Random
) -> None:
    """Objects of the same names change, appear and go, and their catalogs change under them."""
    index = before.index()
    for gone in {each.metadata.name for each in before.tables} - {each.metadata.name for each in after.tables}:
        index.remove(named(before, gone).metadata.namespace, gone)
    order = list(after.tables)
    random.shuffle(order)
    for table in order:
        old = next((each for each in before.tables if each.metadata.name == table.metadata.name), None)
        if old is not None and old.metadata.namespace != table.metadata.namespace:
            index.remove(old.metadata.namespace, old.metadata.name)
        index.put(table, after.catalog(table))
    assert holders(after, index) == holders(after, after.index())


def holders(world: World, index: TableClaimIndex) -> list[object]:
    return [index.holder(table, world.catalog(table)) for table in world.tables]


def named(world: World, name: str) -> PaimonTable:
    return next(each for each in world.tables if each.metadata.name == name)


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
        if table.metadata.name in running and random.random() < 0.5:
            index.put(table, catalog)  # an older observation, from before the run
        elif table.metadata.name in running:
            index.confirm(*(table.metadata.namespace, table.metadata.name))
            index.put(table, catalog)
            running.discard(table.metadata.name)
        elif catalog is not None and is_valid(catalog) and index.holder(table, catalog) is None:
            run = a_run(place_of(table, catalog))
            index.reserve(
                table.model_copy(update={"status": table.status.model_copy(update={"active_run": run})}), catalog
            )
            running.add(table.metadata.name)
        at_work = [place for place, there in idle.places().items() for each in there if each.metadata.name in running]
        assert len(at_work) == len(set(at_work))
