"""A warehouse with the tables of other programs: what they are on disk, and what the export says of them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import yaml

from paimon_engines.engine import is_older
from paimon_engines.loader import load_engine
from tests.spark.foreign_tables import ALL, BESIDE, DATABASE, Foreign, made_by
from tests.spark.lake import Lake
from tests.spark.managed_tables import catalog_of, facts_of, job_of
from tests.support import builders, lake_reader
from tests.support.manifests import Manifest
from tests.support.pypaimon_tables import create_tables, make_not_null
from tests.support.table_world import TableWorld

OURS = "paimon-operator."
Schema = dict[str, Any]
Rows = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Page:
    """The file of an export: its text, its manifests by table, and the line that the command says about it."""

    text: str
    manifests: dict[str, Manifest]
    summary: str

    def commented(self, table: str) -> str:
        """What the file has about a table that is not exported, without the comment signs."""
        _, _, rest = self.text.partition(f"# not exported: {DATABASE}.{table}\n")
        lines = rest.partition("# not exported: ")[0].splitlines()
        return "\n".join(line.removeprefix("#").removeprefix(" ") for line in lines)


@dataclass(frozen=True)
class ForeignLake:
    """The warehouse of one engine."""

    lake: Lake
    one_of: int = 1
    """1: all tables of `foreign_tables`; 3: a third of them."""

    @property
    def tables(self) -> list[Foreign]:
        """The tables that are exported."""
        return [each for each in ALL if self._has(each)][:: self.one_of]

    @property
    def beside(self) -> list[tuple[Foreign, str]]:
        """The tables that are comments, and why."""
        return [each for each in BESIDE if self._has(each[0])]

    def make(self) -> None:
        """Makes all tables."""
        statements, requests = made_by([*self.tables, *(table for table, _ in self.beside)])
        self.lake.outside(f"CREATE DATABASE outside.{DATABASE}", *statements)
        create_tables(self.lake.warehouse, DATABASE, requests)

    def alter(self) -> None:
        """Alters every table in its way."""
        self.lake.outside(*(statement for table in self.tables for statement in table.alterations))
        tightened = {table.name: table.tightened for table in self.tables if table.tightened}
        make_not_null(self.lake.warehouse, DATABASE, tightened)

    def exported(self) -> Page:
        """What the documented commands make of the log of a run of type Describe, whose driver is a real one."""
        world = TableWorld(table=builders.table("any"), catalog=catalog_of(self.lake), operator=facts_of(self.lake))
        run = builders.run("describe-lake", table=world.table, type="Describe", compact=None)
        ended = self.lake.drive(job_of(self.lake, run, world))
        assert ended.code == 0, ended.log
        command = [sys.executable, "-m", "paimon_operator.export"]
        done = subprocess.run(command, input=ended.log, capture_output=True, text=True, check=True)
        manifests = {each["spec"]["table"]: each for each in yaml.safe_load_all(done.stdout) if each}
        return Page(done.stdout, manifests, done.stderr.strip())

    def schemas(self, table: str) -> list[Schema]:
        """The table's schema files, oldest first: everything that an ALTER can change, as they have it."""
        directory = self.lake.directory / "warehouse" / f"{DATABASE}.db" / table / "schema"
        files = sorted(
            (json.loads(file.read_text(), object_hook=_in_short) for file in directory.iterdir()),
            key=lambda each: int(each["id"]),
        )
        kept = ("fields", "highestFieldId", "partitionKeys", "primaryKeys", "options")
        return [{name: each[name] for name in kept} | {"comment": each.get("comment") or None} for each in files]

    def rows(self) -> Rows:
        """The rows of the tables that have some, read by pypaimon."""
        names = [table.name for table in self.tables if table.rows]
        return dict(zip(names, lake_reader.read_many(self.lake.warehouse, DATABASE, names), strict=True))

    def declared(self, schema: Schema) -> Schema:
        """What a manifest can declare of a schema: without ids and marks, options by their present names."""
        fields = [{key: value for key, value in each.items() if key != "id"} for each in schema["fields"]]
        options = load_engine(self.lake.engine.id).canonical(without_marks(schema)["options"])
        return {**schema, "fields": fields, "highestFieldId": None, "options": options}

    def _has(self, table: Foreign) -> bool:
        return not table.since or not is_older(self.lake.engine.id, table.since)


def _in_short(part: dict[str, Any]) -> dict[str, Any]:
    """A part of a schema file without what pypaimon writes out, and Java leaves out."""
    return {key: value for key, value in part.items() if (key, value) != ("nullable", True)}


def without_marks(schema: Schema) -> Schema:
    """The schema without the operator's own options."""
    return schema | {"options": {key: value for key, value in schema["options"].items() if not key.startswith(OURS)}}
