"""A lake whose list of tables is in a Hive metastore and whose warehouse is in S3; all servers on loopback."""

# ruff: noqa: S608 - the only names in SQL are those that the tests give

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.hive.metastore import Metastore
from tests.spark.with_metastore import S3_KEYS, ListedLake
from tests.support.s3_server import S3Server, s3_server


@dataclass(frozen=True)
class HiveServers:
    """The metastore and S3."""

    hive: Metastore
    s3: S3Server


@dataclass
class HiveLake(ListedLake):
    """The metastore is a Hive server's; database and directory are the test's own."""

    metastore = "hive"
    servers: HiveServers = field(kw_only=True)

    def files(self) -> list[str]:
        """Files of the warehouse."""
        listed = self.servers.s3.client().list_objects_v2(Bucket="lake", Prefix=f"{self.root}/")
        return [each["Key"] for each in listed.get("Contents", []) if not each["Key"].endswith("/")]

    def listed(self) -> str:
        """The tables of the database that the metastore lists."""
        return self.servers.hive.listed(self.database)

    def held_lock(self, *, host: str = "afar", silent_s: int = 0) -> None:
        """A writer on `host` has the lock of the table, and has given its last sign of life `silent_s` seconds ago."""
        self.servers.hive.lock(self.database, "orders", host=host, silent_s=silent_s)

    def locks(self) -> str:
        """Hosts that have or want the lock of the table."""
        return self.servers.hive.sql(f"SELECT hl_host FROM hive_locks WHERE hl_db = '{self.database}'")

    def foreign_table(self) -> None:
        """Hive has made a table of its own under the name, of text files, in the database that is there already."""
        number = 9000 + int(self.database.rpartition("_")[2])
        columns = '"INPUT_FORMAT", "OUTPUT_FORMAT", "LOCATION"'
        values = (
            "'org.apache.hadoop.mapred.TextInputFormat', 'org.apache.hadoop.hive.ql.io.IgnoreKeyTextOutputFormat',"
            f" '{self.servers.hive.warehouse.as_uri()}/foreign'"
        )
        serde = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
        self.servers.hive.sql(
            f'INSERT INTO "CDS" VALUES ({number});'
            f'INSERT INTO "SERDES" ("SERDE_ID", "NAME", "SLIB") VALUES ({number}, \'orders\', \'{serde}\');'
            'INSERT INTO "SDS" ("SD_ID", "CD_ID", "SERDE_ID", "IS_COMPRESSED", "NUM_BUCKETS",'
            f' "IS_STOREDASSUBDIRECTORIES", {columns})'
            f" VALUES ({number}, {number}, {number}, false, -1, false, {values});"
            'INSERT INTO "COLUMNS_V2" ("CD_ID", "COLUMN_NAME", "TYPE_NAME", "INTEGER_IDX")'
            f" VALUES ({number}, 'id', 'bigint', 0);"
            'INSERT INTO "TBLS" ("TBL_ID", "CREATE_TIME", "DB_ID", "LAST_ACCESS_TIME", "OWNER", "RETENTION", "SD_ID",'
            ' "TBL_NAME", "TBL_TYPE", "IS_REWRITE_ENABLED")'
            f" SELECT {number}, 0, \"DB_ID\", 0, 'hive', 0, {number}, 'orders', 'MANAGED_TABLE', false"
            f' FROM "DBS" WHERE "NAME" = \'{self.database}\''
        )


@contextmanager
def servers(hive: Metastore, directory: Path) -> Iterator[HiveServers]:
    """The metastore, which runs already, and S3 for as long as the block lasts."""
    with s3_server(directory, "lake", keys=S3_KEYS) as s3:
        yield HiveServers(hive, s3)
