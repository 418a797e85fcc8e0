"""A Spark driver that performs many requests, so that tests start one JVM per engine.

The image's entrypoint starts it instead of driver/main.py. A request is one JSON line:
  {"job": path}                        performed by spark_apps.driver.main, as in a driver
  {"job": path, "replace": path, "by": text}   the same; the file is replaced after the ledger has its entry
  {"job": path, "alter": statement, "warehouse": uri}   the same; SQL of a foreign session after the ledger has its
                                       entry, as "sql" runs it
  {"job": path, "environment": variables}   the same, with these variables of the job's Pod
  {"job": path, "hive": options}       the same, with these options of Hive over those of engines.yaml
  {"job": path, "die": moment}         the same, ended at that moment (kill_points.MOMENTS)
  {"job": path, "now": milliseconds}   the same; an ExpirePartitions or MarkPartitionsDone takes it for the current
                                       time
  {"job": path, "corrupt": statement}  the same; SQL of a Compact's own session after its compaction, as if that had
                                       done it. With "then": statement, a foreign session commits after it, as "alter"
  {"job": path, "record": functions}   the same; the answer has the calls of these functions of a Rescale, in order
  {"sql": [statement], "warehouse": uri}   run in order by a foreign session in the catalog `outside`, up to the first
                                       that fails; the answer is Spark's error, or None
  {"select": query, "warehouse": uri}  the rows of a query in that catalog, as JSON, or Spark's error
  {"schema": uri}                      the schema of shop.orders in that warehouse as Paimon reads it, and the version
                                       of the schema files that it writes
  {"play": method, ...}                a step of a random schedule (schedules/java_table.py)
  {"identifier": text}, {"literal": text}   read by Spark's parser with Paimon's extensions
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from paimon_contract import environment
from paimon_contract.job import Job, JobError
from paimon_engines.engine import Engine
from spark_apps.catalog.metastores import hive_locks
from spark_apps.catalog.session import Session
from spark_apps.driver import main as driver
from spark_apps.driver.digest import checked_text
from spark_apps.driver.dispatch import read_job
from spark_apps.driver.main import perform
from spark_apps.driver.process import engine_of
from spark_apps.loading.ledger import Ledger
from spark_apps.operations import compact, expire_partitions, mark_partitions_done
from spark_apps.sql.identifiers import PARSER_OPTIONS
from spark_apps.storage import hadoop
from tests.support.kill_points import Died, dying, recording
from tests.support.schedules.java_table import JavaTable
from tests.support.worker_channel import serve

_played = JavaTable()


def answer(request: dict[str, Any]) -> Any:
    """Carries out the request and returns its answer."""
    if "job" in request:
        with mock.patch.dict(os.environ, request.get("environment", {})):
            return _do_job(request)
    if "play" in request:
        return _played.answer(request)
    if "sql" in request or "select" in request:
        return _do_outside(request)
    if "schema" in request:
        return _schema(request["schema"])
    parser: Any = _session()._jsparkSession.sessionState().sqlParser()
    if "identifier" in request:
        parts = parser.parseMultipartIdentifier(request["identifier"])
        return [parts.apply(index) for index in range(parts.size())]
    return parser.parseExpression(request["literal"]).value().toString()


def _do_job(request: dict[str, Any]) -> list[Any]:
    try:
        job = read_job(checked_text(Path(request["job"])))
    except JobError as error:
        return [{"unreadable": str(error)}, -1]
    with _hive_options(request.get("hive", {})), _corrupting(request):
        if "record" in request:
            with recording(request["record"]) as calls:
                return [*_perform(request, job), calls]
        return _die(request["die"], job) if "die" in request else _perform(request, job)


def _perform(request: dict[str, Any], job: Job) -> list[Any]:
    with _replacing(request), _altering(request), _at(request):
        return list(perform(job))


@contextlib.contextmanager
def _at(request: dict[str, Any]) -> Iterator[None]:
    """Stops the clock by which partitions expire and are done."""
    if "now" not in request:
        yield
        return
    at = int(request["now"])
    with (
        mock.patch.object(expire_partitions, "now", return_value=at),
        mock.patch.object(mark_partitions_done, "now", return_value=at),
    ):
        yield


@contextlib.contextmanager
def _corrupting(request: dict[str, Any]) -> Iterator[None]:
    """Makes a compaction change rows by a commit of its own, before it verifies its commits."""
    compact_table = compact.compact_table

    def corrupting(job: Job, session: Session, *args: Any) -> Mapping[str, int | None]:
        taken = compact_table(job, session, *args)
        session.spark.conf.set("spark.sql.ansi.enabled", "false")  # with it, 0.9 never ends to resolve nested values
        session.spark.sql(request["corrupt"]).collect()
        session.spark.conf.set("spark.sql.ansi.enabled", "true")
        if "then" in request:
            _alter_outside(request["then"], request["warehouse"])
        return taken

    if "corrupt" not in request:
        yield
        return
    with mock.patch.object(compact, "compact_table", corrupting):
        yield


@contextlib.contextmanager
def _altering(request: dict[str, Any]) -> Iterator[None]:
    """Changes the table's schema in the middle of a write, as another writer would."""
    begin = Ledger.begin

    def altering(*args: Any, **kwargs: Any) -> Any:
        entry = begin(*args, **kwargs)
        if "alter" in request:
            _alter_outside(request["alter"], request["warehouse"])
        return entry

    with mock.patch.object(Ledger, "begin", altering):
        yield


def _alter_outside(statement: str, warehouse: str) -> None:
    """In a Spark session of its own, beside that of the job."""
    active = SparkSession.getActiveSession()
    assert active is not None
    other = active.newSession()
    other.conf.set("spark.sql.catalog.outside", "org.apache.paimon.spark.SparkCatalog")
    other.conf.set("spark.sql.catalog.outside.warehouse", warehouse)
    other.conf.set("spark.paimon.commit.user-prefix", "outside")  # else that of the job, which Spark's context has
    other.sql(statement).collect()
    jvm: Any = SparkContext._jvm
    jvm.SparkSession.setActiveSession(active._jsparkSession)


@contextlib.contextmanager
def _hive_options(options: dict[str, str]) -> Iterator[None]:
    """Gives the driver's engine `options` over those of engines.yaml for a catalog in Hive."""

    def with_options(job: Job) -> Engine:
        engine = engine_of(job)
        return replace(engine, hive_catalog_options={**engine.hive_catalog_options, **options})

    with mock.patch.object(driver, "engine_of", with_options):
        yield


def _die(moment: str, job: Job) -> list[Any]:
    def die() -> None:
        raise Died

    with dying(moment, die):
        try:
            return list(perform(job))
        except Died:
            return [{"died": moment}, -signal.SIGKILL]


@contextlib.contextmanager
def _replacing(request: dict[str, Any]) -> Iterator[None]:
    begin = Ledger.begin

    def replacing(*args: Any, **kwargs: Any) -> Any:
        entry = begin(*args, **kwargs)
        if "replace" in request:
            file = Path(request["replace"])
            file.unlink()
            if request["by"]:
                file.write_text(request["by"])
        return entry

    with mock.patch.object(Ledger, "begin", replacing):
        yield


def _session() -> SparkSession:
    extensions = "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions"
    builder = SparkSession.builder.config("spark.sql.extensions", extensions).config("spark.ui.enabled", False)
    for key, value in {**PARSER_OPTIONS, **_hadoop_options(), "spark.log.level": "WARN"}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _hadoop_options() -> dict[str, str]:
    """The Hadoop options of the SparkContext, which the worker creates before its first job.

    Without them Spark opens HDFS first, and Hadoop's cache returns that file system without its options to Paimon.
    """
    if environment.HADOOP_CONF_DIR not in os.environ:
        return {}
    return {f"spark.hadoop.{key}": value for key, value in hadoop.options().items()}


def _forget_session() -> None:
    """Makes the next session start with its own options and catalog. The SparkContext stays."""
    SparkSession._instantiatedSession = None
    jvm: Any = SparkContext._jvm
    jvm.SparkSession.clearDefaultSession()
    jvm.SparkSession.clearActiveSession()


def _forget_session_of(_: Session) -> None:
    _forget_session()


def _do_outside(request: dict[str, Any]) -> Any:
    if "sql" in request:
        return _run_outside(request["sql"], request["warehouse"])
    return _select_outside(request["select"], request["warehouse"])


def _run_outside(statements: Sequence[str], warehouse: str) -> str | None:
    with _outside(warehouse) as session:
        try:
            for each in statements:
                session.sql(each).collect()
        except (Py4JError, PySparkException) as error:
            return str(error)
    return None


def _select_outside(query: str, warehouse: str) -> dict[str, Any]:
    with _outside(warehouse) as session:
        session.conf.set("spark.sql.jsonGenerator.ignoreNullFields", "false")
        try:
            return {"rows": [json.loads(row) for row in session.sql(query).toJSON().collect()]}
        except (Py4JError, PySparkException) as error:
            return {"error": str(error)}


@contextlib.contextmanager
def _outside(warehouse: str) -> Iterator[SparkSession]:
    """A foreign session with the catalog `outside`."""
    session = _session()
    try:
        session.conf.set("spark.sql.catalog.outside", "org.apache.paimon.spark.SparkCatalog")
        session.conf.set("spark.sql.catalog.outside.warehouse", warehouse)
        yield session
    finally:
        _forget_session()


def _schema(warehouse: str) -> list[Any]:
    _session()
    jvm: Any = SparkContext._jvm
    paimon = jvm.org.apache.paimon
    options = paimon.options.Options()
    options.set("warehouse", warehouse)
    catalog = paimon.catalog.CatalogFactory.createCatalog(paimon.catalog.CatalogContext.create(options))
    try:
        table = catalog.getTable(paimon.catalog.Identifier.create("shop", "orders"))
        return [table.schema().toString(), paimon.schema.TableSchema.CURRENT_VERSION]
    finally:
        catalog.close()
        _forget_session()


def main() -> None:
    _session()  # first, so that the options of the first job do not apply to all
    _forget_session()
    stale_after_s = int(os.environ.get("HIVE_LOCK_STALE_AFTER_S", hive_locks.STALE_AFTER_S))
    with (
        mock.patch.object(Session, "_stop_spark", _forget_session_of),
        mock.patch.object(hive_locks, "STALE_AFTER_S", stale_after_s),
    ):
        serve(answer)


main()
