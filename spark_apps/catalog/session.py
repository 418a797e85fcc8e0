"""The JVM, the Paimon catalog in it, and Spark SQL, each started at its first use.

Creating or dropping a table needs the catalog only, and a JVM without Spark SQL starts in a fraction of the time.
Credentials come from the process's environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) or from a file; no option
holds them.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Final

from paimon_contract import environment
from paimon_contract.job import Job, JobExecutors
from paimon_contract.parameters.write import write_of
from paimon_engines.engine import Engine
from spark_apps.catalog import event_log, opened, spark_use
from spark_apps.catalog.java_names import names_of
from spark_apps.catalog.metastores.base import Metastore
from spark_apps.catalog.ownership import require_own
from spark_apps.executors import settings
from spark_apps.failures.causes import is_caused_by
from spark_apps.failures.errors import RunError
from spark_apps.metadata.remembered import RememberedFiles
from spark_apps.metadata.table_files import location_of
from spark_apps.progress import SPARK_READY, log_step
from spark_apps.sql.identifiers import CATALOG, PARSER_OPTIONS, qualified
from spark_apps.storage.base import Storage

if TYPE_CHECKING:  # pyspark takes long to import, and most jobs do not need Spark SQL
    from pyspark.sql import DataFrame, SparkSession


_WITHOUT_PARTITION_EXPIRY: Final = {
    "spark.paimon.end-input.check-partition-expire": "false",
    "spark.paimon.partition.expiration-check-interval": "100000000 d",
}
"""Partitions expire in runs of their own, also where somebody else has given the table an expiration time. The interval
is that long because Paimon begins it at a random moment in the past."""


_FOUND_FOR_S: Final = 5
"""Seconds of waiting for the JVM after which `files_found` are read again: somebody else may have committed."""
_OPENING: Final = threading.Lock()
"""One thread at a time starts the JVM, connects it to a metastore and logs it in."""


@lru_cache(maxsize=1)
def _class_path(jvm: Any) -> str:
    """Of hundreds of jars, so one copy serves all jobs of a process."""
    return str(jvm.java.lang.System.getProperty("java.class.path"))


class Session:
    """The access of one job to its table. Close it at the end."""

    def __init__(
        self,
        job: Job,
        engine: Engine,
        metastore: Metastore,
        storage: Storage,
        files_found: RememberedFiles | None = None,
    ) -> None:
        """`files_found`: those of the table when the run began; see warehouse_files.files_at_start."""
        self.job, self.engine, self.metastore, self.storage = job, engine, metastore, storage
        self.files_found = files_found
        self.only_java_reads = False
        """Whether Python could not read the files of the table: each further try may take seconds."""
        self._uses_spark = False

    @cached_property
    def jvm(self) -> Any:
        """The JVM: under spark-submit the one that started this process."""
        from pyspark import SparkContext  # noqa: PLC0415  (pyspark takes long to import; usage errors come first)

        SparkContext._ensure_initialized()
        jvm = names_of(SparkContext._jvm)
        self._require_jars(jvm)
        about = jvm.org.apache.logging.log4j.ThreadContext  # read by log4j2.properties
        about.put("run", self.job.run.name)
        about.put("namespace", self.job.run.namespace)
        self.metastore.connect(jvm)
        return jvm

    def open(self) -> None:
        """Starts the JVM and logs in where the storage asks for it. Call it before anything else of this class."""
        began = time.monotonic()
        with spark_use.within_patience(_OPENING):
            self.jvm  # noqa: B018  (the first use starts it)
            self.storage.log_in(self)
        if time.monotonic() - began > _FOUND_FOR_S:
            self.files_found = None

    @cached_property
    def catalog(self) -> Any:
        """Paimon's Catalog (Java). One without a connection is shared with other jobs, and nobody closes it."""
        if self.metastore.registers_tables:  # (a connection to a server, which the job closes)
            return self.jvm.org.apache.paimon.catalog.CatalogFactory.createCatalog(self.catalog_context)
        return opened.catalog(self.jvm, self._catalog_key, self._hadoop_key)

    @cached_property
    def catalog_context(self) -> Any:
        """The CatalogContext (Java) that catalogs and file systems are opened with."""
        return opened.catalog_context(self.jvm, self._catalog_key, self._hadoop_key)

    @cached_property
    def catalog_options(self) -> dict[str, str]:
        """The options of the catalog: storage, job and metastore, each overriding the one before.

        Without a cache, since a run must see the current state of a table.
        """
        return {
            **self.storage.catalog_options,
            "warehouse": self.job.catalog.warehouse,
            "cache-enabled": "false",
            **self.job.catalog.options,
            **self.metastore.catalog_options,
        }

    @cached_property
    def hadoop_options(self) -> dict[str, str]:
        """Options of Hadoop's file systems, for input files and for a warehouse on HDFS."""
        return {**self.engine.input_hadoop_options, **self.storage.hadoop_options(self), **self.job.hadoop}

    @cached_property
    def hadoop_configuration(self) -> Any:
        """The same as a Hadoop Configuration (Java), which nobody may change."""
        return opened.hadoop_configuration(self.jvm, self._hadoop_key)

    @property
    def _catalog_key(self) -> opened.Options:
        return opened.options_of(self.catalog_options)

    @property
    def _hadoop_key(self) -> opened.Options:
        return opened.options_of(self.hadoop_options)

    @property
    def own_location(self) -> str:
        """Where the job's table must lie, as Paimon writes URIs."""
        location: str = self.path(location_of(self.job)).toString()
        return location

    @property
    def identifier(self) -> Any:
        """The table's Identifier (Java)."""
        return self.jvm.org.apache.paimon.catalog.Identifier.create(self.job.table.database, self.job.table.name)

    def find_table(self) -> Any:
        """The current table (Java FileStoreTable), or None. Raises RunError when another one has its name."""
        self.metastore.check_registered_table(self)
        try:
            return self.catalog.getTable(self.identifier)
        except Exception as error:
            if is_caused_by(error, "Catalog$TableNotExistException", "Catalog$DatabaseNotExistException"):
                return None
            explained = self.metastore.explain_unreadable_table(self.job, error)
            if explained is not None:
                raise explained from error
            raise

    @cached_property
    def table_found(self) -> Any:
        """The table (Java FileStoreTable) as the run has found it when it began, or None. Read once."""
        return self.find_table()

    def table_at_start(self) -> Any:
        """As `table`, for an operation that begins with it: the look for foreign commits has read it just before.

        So an owner that takes the table over during that look is not noticed here.
        """
        return self._own(self.table_found)

    def table(self) -> Any:
        """The current table (Java FileStoreTable). Raises RunError when it does not exist or has another owner."""
        return self._own(self.find_table())

    def existing_table(self) -> Any:
        """The current table (Java FileStoreTable), regardless of its owner. Raises RunError when it does not exist."""
        return self._existing(self.find_table())

    def _own(self, found: Any) -> Any:
        require_own(self.job, self._existing(found))
        return found

    def _existing(self, found: Any) -> Any:
        if found is None:
            raise RunError(
                "Environment",
                "TableNotFound",
                f"the table {self.job.table} does not exist any more",
                "find out who removed it, and put its data back: the operator does not recreate it by itself",
            )
        return found

    @cached_property
    def spark(self) -> SparkSession:
        """Spark SQL with the catalog; commits carry the run's name and UID as their user's prefix."""
        from pyspark.sql import SparkSession  # noqa: PLC0415

        self.jvm  # noqa: B018  (checks the jars before anything heavier starts)
        if not self._uses_spark:
            spark_use.take()
            self._uses_spark = True
        builder = SparkSession.builder.appName(self.job.run.name)
        if self._executors:
            host = os.environ[environment.KUBERNETES_SERVICE_HOST]
            port = os.environ[environment.KUBERNETES_SERVICE_PORT]
            builder = builder.master(f"k8s://https://{host}:{port}")
        event_log.make_directory(self.job, self.jvm, self.hadoop_configuration)
        for key, value in self._spark_options().items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("WARN")
        if self._executors:
            settings.await_first(session, self.job, self._executors)
        log_step(SPARK_READY)
        return session

    @property
    def _executors(self) -> JobExecutors | None:
        return self.job.spark.executors if self.job.spark else None

    def dataframe(self, system_table: str = "") -> DataFrame:
        """The table, or one of its system tables."""
        name = self.job.table.name + (f"${system_table}" if system_table else "")
        return self.spark.table(qualified(CATALOG, self.job.table.database, name))

    def _spark_options(self) -> dict[str, str]:
        catalog = f"spark.sql.catalog.{CATALOG}"
        write = write_of(self.job)
        write_options = write.options if write else {}
        return {
            "spark.sql.shuffle.partitions": str(4 * self.cores),
            **(self.job.spark.conf if self.job.spark else {}),
            **(settings.options(self.job, self._executors) if self._executors else {}),
            **(self.storage.executor_options if self._executors else {}),
            "spark.sql.extensions": "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions",
            catalog: "org.apache.paimon.spark.SparkCatalog",
            f"{catalog}.defaultDatabase": self.job.table.database,  # or it would create `default`
            **{f"{catalog}.{key}": value for key, value in self.catalog_options.items()},
            **{f"spark.hadoop.{key}": value for key, value in self.hadoop_options.items()},
            **{f"spark.paimon.{key}": value for key, value in write_options.items()},
            "spark.paimon.commit.user-prefix": self.job.commit_user,
            "spark.paimon.snapshot.expire.limit": "0",  # no commit may expire the snapshots that prove it
            **_WITHOUT_PARTITION_EXPIRY,
            **PARSER_OPTIONS,
            **event_log.options(self.job),
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.ansi.enabled": "true",
            "spark.ui.enabled": "false",
        }

    @property
    def cores(self) -> int:
        """Tasks that run at the same time."""
        if self._executors:
            return self._executors.instances * self._executors.cores
        return int(os.environ.get(environment.DRIVER_CORES, "1"))

    def close(self) -> None:
        """Closes Spark, and a catalog of this job alone, if they were started. The JVM ends with the process."""
        try:
            if "catalog" in self.__dict__ and self.metastore.registers_tables:
                self.catalog.close()
        finally:
            if self._uses_spark:
                self._uses_spark = False
                spark_use.give_back(self._stop_spark)

    def _stop_spark(self) -> None:
        """Stops Spark, also one that has not started wholly. Raises RuntimeError if it is still there."""
        from pyspark import SparkContext  # noqa: PLC0415

        context = SparkContext._active_spark_context
        if context is None:
            return
        of_java = context._jsc.sc()
        (self.spark if "spark" in self.__dict__ else context).stop()
        if not of_java.isStopped():  # (pyspark only warns then)
            raise RuntimeError("Spark has not stopped")

    def java_map(self, values: dict[str, str]) -> Any:
        """A java.util.Map of strings."""
        result = self.jvm.java.util.HashMap()
        for key, value in values.items():
            result.put(key, value)
        return result

    def java_list(self, values: Iterable[Any]) -> Any:
        """A java.util.List of strings, or of Java objects."""
        result = self.jvm.java.util.ArrayList()
        for value in values:
            result.add(value)
        return result

    def java_strings(self, values: Sequence[str]) -> Any:
        """A String[]."""
        array = self.jvm.java.lang.reflect.Array.newInstance(
            self.jvm.java.lang.Class.forName("java.lang.String"), len(values)
        )
        for index, value in enumerate(values):
            array[index] = value
        return array

    def path(self, uri: str) -> Any:
        """A Path (Java) of Paimon's file systems."""
        return self.jvm.org.apache.paimon.fs.Path(uri)

    def file_io(self, path: Any) -> Any:
        """Paimon's FileIO (Java) for `path`, with the catalog's options and credentials."""
        return self.jvm.org.apache.paimon.fs.FileIO.get(path, self.catalog_context)

    def _require_jars(self, jvm: Any) -> None:
        """Raises RunError in the image of another engine: there, a job would half work."""
        connector = self.engine.jars[0].file_name
        if connector not in _class_path(jvm):
            raise RunError(
                "Environment",
                "EngineMismatch",
                f"this image does not hold {connector}, which engine {self.engine.id} needs",
                "set the image of that engine in the operator's settings",
                field="spec.engine",
            )
