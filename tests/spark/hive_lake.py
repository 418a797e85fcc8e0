"""A lake whose catalog is in a Hive metastore and whose warehouse is in S3; all servers run on loopback."""

# ruff: noqa: S608 - the only names in SQL are those that the tests give

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.hive.metastore import Metastore
from tests.spark.metastore_lake import S3_KEYS, MetastoreLake
from tests.support.s3_server import S3Server, s3_server


@dataclass(frozen=True)
class HiveServers:
    """The metastore and S3."""

    hive: Metastore
    s3: S3Server


@dataclass
class HiveLake(MetastoreLake):
    """A lake whose metastore is a Hive server. Each test has its own database and directory."""

    metastore = "hive"
    servers: HiveServers = field(kw_only=True)

    def listed(self) -> str:
        """Returns the tables that the metastore lists in the database, one per line."""
        return self.servers.hive.listed(self.database)

    def lock(self, *, host: str = "afar", silent_s: int = 0) -> None:
        """Locks the table for a writer on `host` whose last heartbeat was `silent_s` seconds ago."""
        self.servers.hive.lock(self.database, "orders", host=host, silent_s=silent_s)

    def locks(self) -> str:
        """Returns the hosts that hold or wait for the lock of the table."""
        return self.servers.hive.sql(f"SELECT hl_host FROM hive_locks WHERE hl_db = '{self.database}'")

    def delete_from_metastore(self) -> None:
        """Deletes table and database from the metastore, like a restore of an earlier backup. The files stay."""
        self.servers.hive.sql(
            'DELETE FROM "TABLE_PARAMS"; DELETE FROM "PARTITION_KEYS"; DELETE FROM "TAB_COL_STATS";'
            'DELETE FROM "TBL_PRIVS";'
            f'DELETE FROM "TBLS" WHERE "DB_ID" IN (SELECT "DB_ID" FROM "DBS" WHERE "NAME" = \'{self.database}\');'
            f'DELETE FROM "DATABASE_PARAMS"; DELETE FROM "DBS" WHERE "NAME" = \'{self.database}\''
        )

    def delete_table_directory(self) -> None:
        """Deletes the table's directory. The metastore still lists the table."""
        for key in self.files():
            if "/orders/" in key and ".paimon-operator/" not in key:
                self.servers.s3.client().delete_object(Bucket="lake", Key=key)

    def create_hive_table(self) -> None:
        """Creates a text table of Hive with the table's name in the existing database."""
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
def hive_servers_with_s3(hive: Metastore, directory: Path) -> Iterator[HiveServers]:
    """Runs S3 for the duration of the block, beside the running metastore."""
    with s3_server(directory, "lake", keys=S3_KEYS) as s3:
        yield HiveServers(hive, s3)
