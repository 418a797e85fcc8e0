"""The life cycle of a table on HDFS, with and without Kerberos."""

from __future__ import annotations

import pytest

from tests.cluster.hdfs import realm
from tests.spark.hdfs_lake import HdfsLake, pod_environment
from tests.support.spark_process import ROOT

COLUMNS = {"id": "BIGINT", "v": "STRING"}


@pytest.mark.engines_in_turn("hdfs_kind")
def test_a_table_lives_on_hdfs(hdfs_lake: HdfsLake) -> None:
    """Input files and ledger are on HDFS too. Hadoop's shell copies the files and pypaimon reads the rows."""
    lake = hdfs_lake
    lake.provision(COLUMNS, keys=["id"], options={"bucket": "1", "write-only": "true"}).ok()

    lake.land("orders/1.csv", "id,v\n1,first\n2,first\n")
    assert lake.write().ok()["write"]["rows"] == 2
    lake.land("orders/2.csv", "id,v\n2,second\n3,second\n")
    assert lake.write().ok()["write"]["files"] == 1, "the ledger on HDFS tells that the first file is loaded"

    lake.land("orders/1.csv", "id,v\n1,replaced\n")
    assert lake.write().ok()["write"]["files"] == 1, "a replaced file is new"

    compacted = lake.compact().ok()
    assert compacted["after"]["sortedRunsMax"] == 1
    assert compacted["table"]["manifests"] > 0, "the JVM has read the metadata files for the driver"
    assert (compacted["table"]["oldestSnapshot"], compacted["table"]["snapshots"]) == (
        lake.snapshots()[0]["commit_time"][:19] + "Z",
        4,
    )
    assert lake.expire(numRetainedMin=1, numRetainedMax=1).ok()["expired"] == 3
    assert lake.rows() == [{"id": 1, "v": "replaced"}, {"id": 2, "v": "second"}, {"id": 3, "v": "second"}]

    assert lake.drop().ok()["dropped"] is True
    assert not lake.exists("shop.db/orders")
    assert not lake.exists(".paimon-operator/shop.orders")


@pytest.mark.long
def test_a_driver_started_as_in_the_image_logs_in(secure: HdfsLake) -> None:
    body = {"columns": [{"name": "id", "type": "BIGINT"}], "adoption": "Fail", "options": {"bucket": "-1"}}

    done = secure.drive(secure.job("Provision", provision=body))

    assert done.code == 0, done.log
    owner = secure.hdfs.shell("-stat", "%u", f"{secure.warehouse}/shop.db/orders")
    assert owner.strip() == realm.USER


@pytest.mark.long
def test_a_catalog_without_files_reaches_an_hdfs_without_kerberos(simple: HdfsLake) -> None:
    """Without a user's name its Pods act as `spark`, whatever the user of the process is."""
    simple.hdfs.shell("-mkdir", "-p", simple.warehouse)
    simple.hdfs.shell("-chown", "spark", simple.warehouse)
    body = {"columns": [{"name": "id", "type": "BIGINT"}], "adoption": "Fail", "options": {"bucket": "-1"}}

    done = simple.drive(simple.job("Provision", provision=body), HADOOP_CONF_DIR="", HADOOP_USER_NAME="")

    assert done.code == 0, done.log
    assert simple.hdfs.shell("-stat", "%u", f"{simple.warehouse}/shop.db/orders").strip() == "spark"


@pytest.fixture
def landed(secure: HdfsLake) -> HdfsLake:
    """A table without rows and an input, which belong to the user whose tickets are valid for ten seconds."""
    body = {"columns": [{"name": "id", "type": "BIGINT"}], "adoption": "Fail", "options": {"bucket": "-1"}}
    assert secure.drive(secure.job("Provision", provision=body)).code == 0
    secure.land("orders/1.csv", "id\n1\n")
    secure.hdfs.shell("-chown", "-R", realm.HURRIED, secure.warehouse)
    return secure


def test_a_write_commits_after_the_expiry_of_its_ticket(landed: HdfsLake) -> None:
    """The driver pauses for twenty seconds, and no connection is older than a second."""
    hadoop = {
        "hadoop.security.authentication": "kerberos",
        "hadoop.kerberos.min.seconds.before.relogin": "1",
        "ipc.client.connection.maxidletime": "500",
    }

    done = landed.drive(
        landed.write_job(mode="Append") | {"hadoop": hadoop},
        **pod_environment(landed.hdfs, landed.directory, user=realm.HURRIED),
        SPARK_APPS_MAIN=str(ROOT / "tests" / "support" / "spark_pause.py"),
        PATIENCE_S="20",
    )

    assert done.code == 0, done.log
    assert landed.rows() == [{"id": 1}]


@pytest.mark.long
def test_a_configuration_with_unknown_codecs_is_accepted(simple: HdfsLake) -> None:
    body = {"columns": [{"name": "id", "type": "BIGINT"}], "adoption": "Fail", "options": {"bucket": "-1"}}
    assert simple.drive(simple.job("Provision", provision=body)).code == 0
    core = simple.directory / "hadoop" / "core-site.xml"
    codecs = "<property><name>io.compression.codecs</name><value>com.example.OurCodec</value></property>"
    core.write_text(core.read_text().replace("</configuration>", f"{codecs}</configuration>"))
    simple.land("orders/1.csv", "id\n1\n")

    done = simple.drive(simple.write_job(mode="Append"))

    assert done.code == 0, done.log
    assert simple.rows() == [{"id": 1}]
