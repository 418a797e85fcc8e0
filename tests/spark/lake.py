"""A warehouse and a landing folder on file://, and the jobs that tests run on them."""

from __future__ import annotations

import itertools
import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from paimon_contract.documents import to_json
from paimon_engines.engine import Engine
from paimon_operator.core.operations.schema import provision
from paimon_operator.core.spec.context import TableContext
from paimon_schema.paimon_json import paimon_json
from paimon_schema.type_parser import TypeTextError, parse
from tests.spark.due_partitions import (
    without_a_due_partition,
    without_a_due_snapshot,
    without_a_partition_to_mark,
)
from tests.support import builders, lake_reader
from tests.support.spark_home import SparkHome
from tests.support.spark_process import Exited, Worker, run_driver

OWNER = "cluster-uid/shop/orders"


def json_form(text: str) -> Any:
    """Returns a type in the form of the job, or the text itself if it is not a type."""
    try:
        return paimon_json(parse(text))
    except TypeTextError:
        return text


@dataclass(frozen=True)
class Ended:
    """A finished run: its result document and its exit code."""

    result: dict[str, Any]
    code: int

    @property
    def error(self) -> dict[str, Any]:
        """The error of a failed run; empty for one that succeeded."""
        found: dict[str, Any] = self.result.get("error", {})
        return found

    def ok(self) -> dict[str, Any]:
        """Returns the result of a run that must have succeeded."""
        assert self.code == 0, self.result
        return self.result

    def unknown(self) -> tuple[str, str]:
        """Returns message and remedy of a run that must have ended with ResultUnknown."""
        assert (self.code, self.error.get("class"), self.error.get("reason")) == (40, *["ResultUnknown"] * 2), (
            self.result
        )
        return str(self.error["message"]), str(self.error["remedy"])

    def refused(self, reason: str) -> str:
        """Returns the message of a run that must have failed for this reason in the manifest or an input file."""
        return self.blocked(reason) if reason.startswith("Input") else self._failed(20, "Spec", reason)

    def blocked(self, reason: str) -> str:
        """Returns the message of a run that must have failed for this reason in its environment."""
        return self._failed(25, "Environment", reason)

    def _failed(self, code: int, class_: str, reason: str) -> str:
        assert (self.code, self.error.get("class"), self.error.get("reason")) == (code, class_, reason), self.result
        assert self.error["remedy"]
        return str(self.error["message"])


class RefusedBySparkError(Exception):
    """Spark failed at a statement or a query outside of runs."""


MEASURED = (
    *("Analyze", "Compact", "CompactManifests", "ExpirePartitions", "ExpireSnapshots", "MarkPartitionsDone", "Rescale"),
)
"""Operations of maintenance that measure every table."""


@dataclass
class Lake:
    """One table `shop.orders` in its own directory. Each operation is one method, which performs one run."""

    engine: Engine
    worker: Worker | None
    home: SparkHome
    directory: Path
    owner: str = OWNER
    database: str = "shop"
    numbers: Any = field(default_factory=lambda: itertools.count(1))

    @property
    def jvm(self) -> Worker:
        """The worker, which a lake for drivers alone lacks."""
        assert self.worker is not None
        return self.worker

    @property
    def warehouse(self) -> str:
        return (self.directory / "warehouse").as_uri()

    @property
    def table_directory(self) -> Path:
        return self.directory / "warehouse" / f"{self.database}.db" / "orders"

    @property
    def ledger_directory(self) -> Path:
        return self.directory / "warehouse" / ".paimon-operator" / f"{self.database}.orders" / "import"

    def ledger_of(self, write: str) -> Path:
        """Returns the ledger directory of a write."""
        return self.ledger_directory.with_name(write)

    def schemas(self) -> int:
        """Returns the number of the table's schema files."""
        return len(list((self.table_directory / "schema").glob("schema-*")))

    def land(self, path: str, content: str | bytes) -> Path:
        """Writes a file into the landing folder and returns its path."""
        target = self.directory / "landing" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
        return target

    def rows(self) -> list[dict[str, Any]]:
        """Returns the table's rows, read by pypaimon."""
        return self.read("orders")

    def snapshots(self) -> list[dict[str, Any]]:
        """Returns the table's snapshots, oldest first, read by pypaimon."""
        return self.read("orders$snapshots")

    def read(self, table: str) -> list[dict[str, Any]]:
        """Returns the rows of a table, or of a system table (`orders$files`), read by pypaimon."""
        return lake_reader.read_rows(self.warehouse, self.database, table)

    def provision(self, columns: dict[str, str], **more: Any) -> Ended:
        """Performs Provision: see `provision_job`."""
        return self.perform(self.provision_job(columns, **more))

    def provision_manifest(self, context: TableContext) -> Ended:
        """Performs Provision of the table that a manifest describes, whatever the operator's rules say of it."""
        parameters = to_json(provision.job(context, builders.run("provision", table=context.table)))
        return self.perform(self.job("Provision", provision=parameters))

    def provision_job(self, columns: dict[str, str], *, run: str | None = None, **more: Any) -> dict[str, Any]:
        """The job of Provision. `columns` maps names to types; `more`: keys, partitions, comments, renamed, defaults,
        or members of the job."""
        comments, renamed, defaults = (more.pop(each, {}) for each in ("comments", "renamed", "defaults"))
        body = {
            "columns": [
                {"name": n, "type": t}
                | ({"comment": comments[n]} if n in comments else {})
                | ({"renamedFrom": renamed[n]} if n in renamed else {})
                | ({"defaultValue": defaults[n]} if n in defaults else {})
                for n, t in columns.items()
            ],
            "primaryKeys": more.pop("keys", []),
            "partitionKeys": more.pop("partitions", []),
            "options": more.pop("options", {}),
            "adoption": more.pop("adoption", "AdoptIfIdentical"),
            **more,
        }
        return self.job("Provision", run=run, provision=body)

    def write(self, *, run: str | None = None, **more: Any) -> Ended:
        """Performs Write, by default of the CSV files in `orders/`."""
        return self.perform(self.write_job(run=run, **more))

    def write_job(self, *, run: str | None = None, **more: Any) -> dict[str, Any]:
        body = {
            "name": "import",
            "hash": "h1",
            "mode": "Upsert",
            "format": "csv",
            "location": (self.directory / "landing").as_uri(),
            "path": "orders/",
            "select": "New",
            "once": False,
            "options": {},
            "ledger": self.ledger_of(more.get("name", "import")).as_uri(),
            **more,
        }
        return self.job("Write", run=run, write=body)

    def compact(self, **more: Any) -> Ended:
        return self.perform(self.compact_job(**more))

    def compact_job(self, **more: Any) -> dict[str, Any]:
        """The job of Compact, of type Full by default."""
        return self.job("Compact", compact={"strategy": "Full", **more})

    def expire(self, **more: Any) -> Ended:
        """Performs ExpireSnapshots. Where it would end without a JVM in the image, it must find nothing to do here."""
        asked = self.job("ExpireSnapshots", expireSnapshots=more)
        alone = without_a_due_snapshot(asked, self.engine.id)
        files = sorted(self.metadata_files()) if alone is not None else []
        ended = self.perform(asked)
        if alone is not None:
            assert (ended.ok()["expired"], ended.ok()["before"]) == (0, alone["before"])
            assert sorted(self.metadata_files()) == files, "no tag, consumer, changelog or snapshot comes or goes"
        return ended

    def metadata_files(self) -> Iterator[Path]:
        """What an expiry creates and removes, without the hints and the empty directories."""
        for kind in ("snapshot", "changelog", "tag", "consumer"):
            yield from (self.table_directory / kind).glob(f"{kind}-*")

    def expire_partitions(self, *, now: datetime | None = None, **more: Any) -> Ended:
        """Performs ExpirePartitions at `now`, by default at the current time.

        In the image it ends without a JVM where no partition is due: what it finds then must be the same as with one.
        """
        at = {} if now is None else {"now": int(now.timestamp() * 1000)}
        asked = self.expire_partitions_job(**more)
        alone = without_a_due_partition(asked, self.engine.id, **at)
        ended = self.perform(asked, **at)
        if alone is not None:
            assert ended.ok()["partitions"] | {"example": ""} == alone | {"example": ""}
        return ended

    def expire_partitions_job(self, **more: Any) -> dict[str, Any]:
        """Returns the job of a run with a name as the operator gives it: later runs know its commits by that."""
        user = f"orders-expirepartitions-{next(self.numbers):08x}-{uuid.uuid4()}"
        body = {"strategy": "ValuesTime", "timeZone": "UTC", **more}
        return self.job("ExpirePartitions", expirePartitions=body, commitUser=user, runPrefix="orders-")

    def mark_partitions_done(self, *, now: datetime | None = None, **more: Any) -> Ended:
        """Performs MarkPartitionsDone at `now`, by default at the current time. It checks as `expire_partitions`."""
        at = {} if now is None else {"now": int(now.timestamp() * 1000)}
        body = {"intervalSeconds": 86_400, "idleSeconds": 3_600, "timeZone": "UTC", **more}
        asked = self.job("MarkPartitionsDone", markPartitionsDone=body)
        alone = without_a_partition_to_mark(asked, self.engine.id, **at)
        ended = self.perform(asked, **at)
        if alone is not None:
            assert ended.ok()["partitionsDone"] | {"example": ""} == alone | {"example": ""}
        return ended

    def rescale(self, count: int, most: int = 100, most_bytes: int | None = None) -> Ended:
        return self.perform(self.rescale_job(count, most, most_bytes))

    def rescale_job(self, count: int, most: int = 100, most_bytes: int | None = None) -> dict[str, Any]:
        """Returns the job of a run with a name as the operator gives it: later runs know its commits by that."""
        user = f"orders-rescale-{next(self.numbers):08x}-{uuid.uuid4()}"
        body = {"count": count, "mostPartitions": most} | ({"mostBytes": most_bytes} if most_bytes else {})
        return self.job("Rescale", rescale=body, commitUser=user, runPrefix="orders-")

    def drop(self, **parameters: Any) -> Ended:
        return self.perform(self.job("Drop", drop=parameters))

    def job(self, operation: str, *, run: str | None = None, **member: Any) -> dict[str, Any]:
        """Returns a job document. Each job has a new run unless `run` names an earlier one."""
        name = run or f"run-{next(self.numbers)}"
        if "provision" in member:
            columns = [each | {"dataType": json_form(each["type"])} for each in member["provision"]["columns"]]
            member["provision"] = member["provision"] | {"columns": columns}
        return {
            "version": 1,
            "run": {"name": name, "uid": f"uid-{name}", "namespace": "shop"},
            "operation": operation,
            "engine": self.engine.id,
            "catalog": {"warehouse": self.warehouse, "metastore": "filesystem", "options": {}},
            "hadoop": {},
            "table": {"database": self.database, "name": "orders"},
            "owner": self.owner,
            "commitUser": f"{name}-uid-{name}",
            **member,
        }

    def outside(self, *statements: str) -> None:
        """Runs SQL as another writer than the operator, in the catalog `outside`. Raises RefusedBySparkError."""
        error = self.jvm.ask(sql=statements, warehouse=self.warehouse)
        if error is not None:
            raise RefusedBySparkError(error)

    def select(self, query: str) -> list[dict[str, Any]]:
        """The rows of a query in the catalog `outside`, read by Spark, in JSON's types. Raises RefusedBySparkError."""
        answer = self.jvm.ask(select=query, warehouse=self.warehouse)
        if "error" in answer:
            raise RefusedBySparkError(answer["error"])
        rows: list[dict[str, Any]] = answer["rows"]
        return rows

    def perform(self, job: dict[str, Any], **more: Any) -> Ended:
        """Performs the job in the worker; spark_worker explains `more`."""
        result, code = self.jvm.ask(job=str(self.save(job)), **more)
        if code == 0 and job["operation"] in MEASURED:
            assert {"before", "after"} <= result.keys(), "the history of maintenance shows the table before and after"
        return Ended(result, code)

    def die_at(self, moment: str, job: dict[str, Any]) -> None:
        """Performs the job of a Write up to `moment` (kill_points.MOMENTS) and stops there, as if killed."""
        ended = self.perform(job, die=moment)
        assert ended.result == {"died": moment}, f"the driver did not die {moment}: {ended.result}"

    def drive(self, job: dict[str, Any], **env: str) -> Exited:
        """Performs the job in a new process, started as in the image."""
        return run_driver(self.home, self.save(job), self.directory, **env)

    def save(self, job: dict[str, Any]) -> Path:
        path = self.directory / f"job-{next(self.numbers)}.json"
        path.write_text(json.dumps(job), encoding="utf-8")
        return path
