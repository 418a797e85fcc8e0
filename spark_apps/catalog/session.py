"""What a run works with: the JVM, the Paimon catalog in it, and Spark SQL, each started when first asked for.

Creating or dropping a table needs the catalog only, and a JVM without Spark SQL is up in a fraction of the time.
Credentials come from the process's environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY) or from a file; no option
holds them.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from paimon_contract import environment
from paimon_contract.parameters.write import write_of
from paimon_engines.engine import Engine
from paimon_engines.loader import load_engine
from spark_apps.catalog.metastores import hive, metastore
from spark_apps.catalog.ownership import require_own
from spark_apps.executors import settings
from spark_apps.failures.classify import RunError, caused_by
from spark_apps.progress import SPARK_READY, log_step
from spark_apps.sql.identifiers import CATALOG, PARSER_OPTIONS, qualified
from spark_apps.storage import hadoop

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame, SparkSession

    from paimon_contract.job import Job, JobExecutors


class Session:
    """One run's way to its table. Close it at the end."""

    def __init__(self, job: Job) -> None:
        self.job = job
        try:
            self.engine: Engine = load_engine(job.engine)
        except KeyError as error:
            said = f"this image knows no engine {job.engine}"
            remedy = "set the image of that engine in the operator's settings"
            raise RunError("Environment", "UnknownEngine", said, remedy, field="spec.engine") from error

    @cached_property
    def jvm(self) -> Any:
        """The JVM: under spark-submit the one that started this process."""
        from pyspark import SparkContext  # noqa: PLC0415  (pyspark takes long to import; usage errors come first)

        SparkContext._ensure_initialized()
        jvm: Any = SparkContext._jvm
        self._require_jars(jvm)
        if metastore.is_jdbc(self.job):
            self._credentials = metastore.connect(self.job, self.engine, jvm)
        return jvm

    def open(self) -> None:
        """Starts the JVM and logs in where the storage asks for it. Without it, nothing else of this class works."""
        if self._on_hdfs:
            hadoop.log_in(self.jvm, self.hadoop_configuration)
        else:
            self.jvm  # noqa: B018  (asking for it starts it)

    @cached_property
    def catalog(self) -> Any:
        """Paimon's Catalog (Java)."""
        return self.jvm.org.apache.paimon.catalog.CatalogFactory.createCatalog(self.catalog_context)

    @cached_property
    def catalog_context(self) -> Any:
        """The CatalogContext (Java) that catalogs and file systems are opened with."""
        options = self.jvm.org.apache.paimon.options.Options.fromMap(self.java_map(self.catalog_options))
        return self.jvm.org.apache.paimon.catalog.CatalogContext.create(options, self.hadoop_configuration)

    @cached_property
    def catalog_options(self) -> dict[str, str]:
        """The options of the catalog: the job's over the engine's; no cache, since a run sees one state of a table."""
        given = {"warehouse": self.job.catalog.warehouse, "cache-enabled": "false", **self.job.catalog.options}
        given |= metastore.catalog_options(self.job, self.engine)
        if self.job.catalog.warehouse.startswith("s3://"):
            return {**self.engine.s3_catalog_options, **given}
        return {**hadoop.CATALOG_OPTIONS, **given} if self._on_hdfs else given

    @cached_property
    def hadoop_options(self) -> dict[str, str]:
        """What Hadoop's file systems need: to read input files, and for a warehouse on HDFS."""
        of_hdfs = hadoop.options(self.jvm) if self._on_hdfs else {}
        return {**self.engine.input_hadoop_options, **of_hdfs, **self.job.hadoop}

    @cached_property
    def hadoop_configuration(self) -> Any:
        """The same as a Hadoop Configuration (Java)."""
        configuration = self.jvm.org.apache.hadoop.conf.Configuration()
        for key, value in self.hadoop_options.items():
            configuration.set(key, value)
        return configuration

    @property
    def _on_hdfs(self) -> bool:
        return self.job.catalog.warehouse.startswith("hdfs://")

    @property
    def identifier(self) -> Any:
        """The table's Identifier (Java)."""
        return self.jvm.org.apache.paimon.catalog.Identifier.create(self.job.table.database, self.job.table.name)

    def find_table(self) -> Any:
        """The table as it is now (Java FileStoreTable), or None."""
        if hive.is_used(self.job):
            hive.check_registered_table(self.job, self)
        try:
            return self.catalog.getTable(self.identifier)
        except Exception as error:
            if caused_by(error, "Catalog$TableNotExistException", "Catalog$DatabaseNotExistException"):
                return None
            if metastore.is_jdbc(self.job):
                metastore.refuse_table_of_elsewhere(self.job, error)
            raise

    def table(self) -> Any:
        """The table as it is now (Java FileStoreTable). Raises RunError when it is not there or no longer ours."""
        found = self.find_table()
        if found is None:
            raise RunError(
                "Environment",
                "TableNotFound",
                f"the table {self.job.table} does not exist any more",
                "find out who removed it; it is made anew, empty",
            )
        if self.job.operation != "Provision":
            require_own(self.job, found)
        return found

    @cached_property
    def spark(self) -> SparkSession:
        """Spark SQL with the catalog; commits carry the run's name and UID as their user's prefix."""
        from pyspark.sql import SparkSession  # noqa: PLC0415

        self.jvm  # noqa: B018  (checks the jars before anything heavier starts)
        builder = SparkSession.builder.appName(self.job.run.name)
        if self._executors:
            host = os.environ[environment.KUBERNETES_SERVICE_HOST]
            port = os.environ[environment.KUBERNETES_SERVICE_PORT]
            builder = builder.master(f"k8s://https://{host}:{port}")
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
            "spark.sql.shuffle.partitions": str(4 * self._cores()),
            **(self.job.spark.conf if self.job.spark else {}),
            **(settings.options(self.job, self._executors) if self._executors else {}),
            **(hadoop.for_executors(self.job.catalog.warehouse) if self._executors and self._on_hdfs else {}),
            "spark.sql.extensions": "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions",
            catalog: "org.apache.paimon.spark.SparkCatalog",
            f"{catalog}.defaultDatabase": self.job.table.database,  # or it would create `default`
            **{f"{catalog}.{key}": value for key, value in self.catalog_options.items()},
            **{f"spark.hadoop.{key}": value for key, value in self.hadoop_options.items()},
            **{f"spark.paimon.{key}": value for key, value in write_options.items()},
            "spark.paimon.commit.user-prefix": self.job.commit_user,
            "spark.paimon.snapshot.expire.limit": "0",  # no commit expires the snapshots that tell of it
            **PARSER_OPTIONS,
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.ansi.enabled": "true",
            "spark.ui.enabled": "false",
        }

    def _cores(self) -> int:
        """How many tasks run side by side."""
        if self._executors:
            return self._executors.instances * self._executors.cores
        return int(os.environ.get(environment.DRIVER_CORES, "1"))

    def close(self) -> None:
        """Ends what was started; the JVM ends with the process."""
        if "catalog" in self.__dict__:
            self.catalog.close()
        if "spark" in self.__dict__:
            self.spark.stop()

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

    def path(self, uri: str) -> Any:
        """A Path (Java) of Paimon's file systems."""
        return self.jvm.org.apache.paimon.fs.Path(uri)

    def file_io(self, path: Any) -> Any:
        """Paimon's FileIO (Java) for `path`, with the catalog's options and credentials."""
        return self.jvm.org.apache.paimon.fs.FileIO.get(path, self.catalog_context)

    def _require_jars(self, jvm: Any) -> None:
        """A job for one engine in another's image would half work, so it must not start."""
        connector = self.engine.jars[0].file_name
        if connector not in jvm.java.lang.System.getProperty("java.class.path"):
            raise RunError(
                "Environment",
                "EngineMismatch",
                f"this image does not hold {connector}, which engine {self.engine.id} needs",
                "set the image of that engine in the operator's settings",
                field="spec.engine",
            )
