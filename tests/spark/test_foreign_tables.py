"""Tables that Spark SQL and pypaimon have made: described, exported, adopted with 0 ALTERs, altered by hand, corrected.

The steps of the class are one story about all tables of `foreign_tables` in one warehouse.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
import yaml

from paimon_engines.engine import Engine
from tests.spark.foreign_lake import ForeignLake, Page, Rows, Schema, without_marks
from tests.spark.foreign_tables import OWNER, End
from tests.spark.lake import Lake
from tests.spark.managed_tables import LONGEST_INTERVAL, ManagedTable, catalog_of
from tests.support.engine_matrix import WHOLE_MATRIX, newest_engine
from tests.support.spark_home import SparkHome
from tests.support.spark_process import Worker

READY = ("True", "TableMatchesSpec")
DRIFTED, NOT_DRIFTED = ("True", "TableAltered"), ("False", "TableUnaltered")
NOT_READY = {End.TABLE_DIFFERS: ("False", "TableDiffers"), End.CONFLICT: ("False", "Conflict")}
VERIFIED_AT_ONCE = (End.TABLE_DIFFERS, End.CONFLICT, End.ADOPTED)
"""Where a run verifies the table right after the look."""
SETTLED = (End.TAKEN_BACK, End.ADOPTED, End.NONE)
LEAST_TABLES = 30
"""On each engine; a third of them on an older one without --whole-matrix."""


@dataclass(frozen=True)
class Steps:
    """What the operator did with each table, and the schema files after it."""

    runs: dict[str, list[str]] = field(default_factory=dict)
    ready: dict[str, tuple[str, str]] = field(default_factory=dict)
    drifted: dict[str, tuple[str, str]] = field(default_factory=dict)
    schemas: dict[str, list[Schema]] = field(default_factory=dict)


def performed(made: ForeignLake, managed: dict[str, ManagedTable]) -> Steps:
    """Performs what is due for each table."""
    steps = Steps()
    for name, each in managed.items():
        steps.runs[name] = each.run_due()
        steps.ready[name] = each.world.says("Ready")
        steps.drifted[name] = each.world.says("Drifted")
        steps.schemas[name] = made.schemas(name)
    return steps


@dataclass(frozen=True)
class Before:
    """The schema files and the rows before the adoption."""

    schemas: dict[str, list[Schema]]
    rows: Rows


class TestForeignTables:
    @pytest.fixture(scope="class")
    @classmethod
    def made(
        cls,
        engine: Engine,
        session_worker: Worker,
        home: SparkHome,
        tmp_path_factory: pytest.TempPathFactory,
        request: pytest.FixtureRequest,
    ) -> ForeignLake:
        whole = request.config.getoption(WHOLE_MATRIX) or engine.id == newest_engine(request.session.items)
        session_worker.begin_test()
        lake = Lake(engine, session_worker, home, tmp_path_factory.mktemp("foreign"))
        made = ForeignLake(lake, one_of=1 if whole else 3)
        made.make()
        return made

    @pytest.fixture(scope="class")
    @classmethod
    def page(cls, made: ForeignLake) -> Page:
        return made.exported()

    @pytest.fixture(scope="class")
    @classmethod
    def managed(cls, made: ForeignLake, page: Page) -> dict[str, ManagedTable]:
        """The PaimonTables of the file, and of the comment that only asks for another policy."""
        applied = dict(page.manifests)
        applied["expiring"] = yaml.safe_load(page.commented("expiring").partition("---\n")[2])
        catalog = catalog_of(made.lake)
        return {name: ManagedTable.of(made.lake, manifest, catalog) for name, manifest in applied.items()}

    @pytest.fixture(scope="class")
    @classmethod
    def before(cls, made: ForeignLake, managed: dict[str, ManagedTable]) -> Before:
        return Before({name: made.schemas(name) for name in managed}, made.rows())

    @pytest.fixture(scope="class")
    @classmethod
    def adopted(cls, made: ForeignLake, before: Before, managed: dict[str, ManagedTable]) -> Steps:
        del before  # (it is read first)
        return performed(made, managed)

    @pytest.fixture(scope="class")
    @classmethod
    def looked(cls, made: ForeignLake, adopted: Steps, managed: dict[str, ManagedTable]) -> Steps:
        """Each table is altered right after its adoption, and the interval passes."""
        del adopted
        made.alter()
        for each in managed.values():
            each.world.now += LONGEST_INTERVAL
        return performed(made, managed)

    @pytest.fixture(scope="class")
    @classmethod
    def corrected(cls, made: ForeignLake, looked: Steps, managed: dict[str, ManagedTable]) -> Steps:
        """Each PaimonTable gets driftPolicy Correct."""
        del looked
        for each in managed.values():
            each.world.edit(driftPolicy="Correct")
        return performed(made, managed)

    def test_each_is_exported_and_what_a_manifest_cannot_say_is_a_comment(self, made: ForeignLake, page: Page) -> None:
        assert sorted(page.manifests) == sorted(table.name for table in made.tables)
        assert len(page.manifests) >= LEAST_TABLES // made.one_of
        ready, rest = len(made.tables), len(made.beside)
        assert page.summary == f"{ready + rest} tables: {ready} manifests, {rest} as comments"
        assert {table.name: reason in page.commented(table.name) for table, reason in made.beside} == {
            table.name: True for table, _ in made.beside
        }

    def test_each_is_ready_with_0_alters_after_one_run(self, made: ForeignLake, before: Before, adopted: Steps) -> None:
        assert adopted.ready == dict.fromkeys(adopted.runs, READY)
        assert adopted.runs == {name: ["Provision"] for name in adopted.runs}
        assert {name: each[:-1] for name, each in adopted.schemas.items()} == before.schemas, "one file each"
        assert {name: without_marks(each[-1]) for name, each in adopted.schemas.items()} == {
            name: each[-1] for name, each in before.schemas.items()
        }
        assert all(OWNER in each[-1]["options"] for each in adopted.schemas.values())
        assert made.rows() == before.rows
        assert {name: len(rows) for name, rows in before.rows.items()} == {
            table.name: len(table.rows) for table in made.tables if table.rows
        }

    def test_each_change_by_hand_is_reported_within_the_interval(
        self, made: ForeignLake, looked: Steps, managed: dict[str, ManagedTable]
    ) -> None:
        found = {table.name: managed[table.name].reported() for table in made.tables}
        assert found == {table.name: [table.change] if table.change else [] for table in made.tables}
        runs = {True: ["Observe", "Provision"], False: ["Observe"]}
        ends = {table.name: table.end for table in made.tables}
        assert {name: looked.runs[name] for name in ends} == {
            n: runs[end in VERIFIED_AT_ONCE] for n, end in ends.items()
        }
        assert {name: looked.ready[name] for name in ends} == {n: NOT_READY.get(end, READY) for n, end in ends.items()}

    def test_what_is_legal_is_taken_back_and_all_else_stays_and_is_reported(
        self, made: ForeignLake, adopted: Steps, looked: Steps, corrected: Steps
    ) -> None:
        ends = {table.name: table.end for table in made.tables}
        drift = {name: NOT_DRIFTED if end in SETTLED else DRIFTED for name, end in ends.items()}
        assert {name: corrected.drifted[name] for name in ends} == drift
        assert {name: corrected.ready[name] for name in ends} == {n: NOT_READY.get(e, READY) for n, e in ends.items()}
        has, had = corrected.schemas, looked.schemas
        assert {name: has[name][: len(had[name])] == had[name] for name in ends} == dict.fromkeys(ends, True)
        commits = {name: len(has[name]) - len(had[name]) for name in ends}
        assert commits == {name: int(end is End.TAKEN_BACK) for name, end in ends.items()}
        back = [name for name, end in ends.items() if end in (End.TAKEN_BACK, End.ADOPTED)]
        as_declared = {name: made.declared(adopted.schemas[name][-1]) for name in back}
        assert {name: made.declared(has[name][-1]) for name in back} == as_declared
