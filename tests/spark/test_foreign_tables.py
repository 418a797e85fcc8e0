"""Tables that Spark SQL and pypaimon have made: described, exported, adopted with 0 ALTERs, altered by hand, corrected.

The steps of the class are one story about all tables of `foreign_tables` in one warehouse.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import yaml

from paimon_engines.engine import Engine, is_older
from paimon_schema.table_schema import TableSchema, read_schema_file
from tests.spark import foreign_tables
from tests.spark.foreign_tables import DATABASE, End, Foreign
from tests.spark.lake import Lake
from tests.spark.managed_tables import LONGEST_INTERVAL, ManagedTable, catalog_of, facts_of, job_of
from tests.support import builders, lake_reader
from tests.support.pypaimon_tables import create_tables
from tests.support.spark_home import SparkHome
from tests.support.spark_process import Worker
from tests.support.table_world import TableWorld


@dataclass
class Story:
    """The warehouse of one engine, and what the steps have done so far."""

    lake: Lake
    tables: list[Foreign]
    managed: dict[str, ManagedTable] = field(default_factory=dict)
    rows: dict[str, Any] = field(default_factory=dict)

    def schemas(self, table: Foreign) -> list[TableSchema]:
        """All schemas of a table, oldest first."""
        directory = self.lake.directory / "warehouse" / f"{DATABASE}.db" / table.name / "schema"
        return sorted((read_schema_file(each.read_text()) for each in directory.iterdir()), key=lambda each: each.id)


class TestForeignTables:
    @pytest.fixture(scope="class")
    @classmethod
    def story(cls, engine, worker, home, tmp_path_factory) -> Story:
        lake = Lake(engine, worker, home, tmp_path_factory.mktemp("foreign"))
        tables = [t for t in foreign_tables.ALL if not t.since or not is_older(engine.id, t.since)]
        t0 = time.time()
        statements, requests = foreign_tables.made_by(tables)
        for st in (f"CREATE DATABASE outside.{DATABASE}", *statements):
            a = lake.jvm.ask(select=st, warehouse=lake.warehouse)
            if "error" in a:
                print("SQL", st, a["error"][:300])
        print("spark", time.time() - t0)
        create_tables(lake.warehouse, DATABASE, requests)
        print("py", time.time() - t0)
        return Story(lake, tables)

    def test_pilot(self, story: Story) -> None:
        lake = story.lake
        t0 = time.time()
        world = TableWorld(table=builders.table("any"), catalog=catalog_of(lake), operator=facts_of(lake.engine))
        run = builders.run("describe-lake", table=world.table, type="Describe", compact=None)
        exited = lake.drive(job_of(lake, run, world))
        print("describe", time.time() - t0)
        assert exited.code == 0, exited.log
        (Path("/tmp/thirty") / f"log-{lake.engine.id}").write_text(exited.log)
        done = subprocess.run([sys.executable, "-m", "paimon_operator.export"], input=exited.log, capture_output=True, text=True, check=False)
        print(done.stderr, done.returncode)
        (Path("/tmp/thirty") / f"page-{lake.engine.id}").write_text(done.stdout)
        print("export", time.time() - t0)
        manifests = {each["spec"]["table"]: each for each in yaml.safe_load_all(done.stdout) if each}
        print("not exported", {t.name for t in story.tables} - set(manifests))
        for t in story.tables:
            if t.name not in manifests:
                continue
            before = story.schemas(t)
            m = story.managed[t.name] = ManagedTable.of(lake, manifests[t.name], catalog_of(lake))
            runs = m.run_due()
            after = story.schemas(t)
            print(t.name, runs, m.world.says("Ready"), len(after) - len(before), m.world.condition("Ready").message[:300] if m.world.says("Ready")[0] != "True" else "")
        print("adopted", time.time() - t0)
        for t in story.tables:
            a = lake.jvm.ask(select=t.statement, warehouse=lake.warehouse)
            if "error" in a:
                print("SQL", t.statement, a["error"][:300])
        print("altered", time.time() - t0)
        for t in story.tables:
            if t.name not in story.managed:
                continue
            m = story.managed[t.name]
            m.world.now += LONGEST_INTERVAL
            runs = m.run_due()
            d = m.world.table.status.drift
            found = [(c.change.value, c.field, c.before, c.after) for c in d.changes]
            print("OK " if found == ([t.change] if t.change else []) else "BAD", t.name, runs, found, t.change, m.world.says("Ready"), m.world.says("Drifted"))
            m.world.edit(driftPolicy="Correct")
            m.world.now += LONGEST_INTERVAL / 60
            runs = m.run_due()
            schemas = story.schemas(t)
            print("      ", t.end, runs, m.world.says("Ready"), m.world.says("Drifted"), len(schemas), m.world.condition("Ready").message[:300] if m.world.says("Ready")[0] != "True" else "")
        print("corrected", time.time() - t0)
