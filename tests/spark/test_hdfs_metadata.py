"""Metadata files on a real HDFS, read without a JVM: by which calls, with which access, and what is Unknown."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.file_sums import total_of
from spark_apps.metadata.hdfs import HdfsFiles
from spark_apps.metadata.observation import Observer
from tests.cluster.hdfs import realm
from tests.cluster.hdfs.servers import Hdfs
from tests.cluster.processes import wait_until
from tests.spark.hdfs_lake import pod_environment
from tests.support.fabricated_avro import data_file
from tests.support.fabricated_table import FabricatedTable, schema_of

pytestmark = pytest.mark.some_rows(1)  # of an HDFS without and one with Kerberos: the second one

SECURE = {"hadoop.security.authentication": "kerberos"}
TICKET_S = 10
"""Lifetime of the tickets of the user HURRIED."""
Opens = Callable[..., HdfsFiles]


@pytest.fixture
def opened(hdfs: Hdfs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opens:
    """Opens the HDFS as a Pod of a catalog does."""

    def opens(user: str = realm.USER, authority: str = "", **options: str) -> HdfsFiles:
        for name, value in pod_environment(hdfs, tmp_path, user=user).items():
            monkeypatch.setenv(name, value)
        secured = SECURE if hdfs.realm else {}
        return HdfsFiles.of(f"hdfs://{authority}/w" if authority else hdfs.uri, {**secured, **options})

    return opens


@pytest.fixture
def lake(hdfs: Hdfs, tmp_path: Path) -> str:
    """A directory of the test on the HDFS."""
    path = f"/lake/{tmp_path.name}"
    hdfs.shell("-mkdir", "-p", path)
    return path


def put(hdfs: Hdfs, table: FabricatedTable, lake: str) -> str:
    """Copies the table as it is now. Returns its URI."""
    hdfs.shell("-put", "-f", str(table.root), lake)
    return f"{hdfs.uri}{lake}/{table.root.name}"


def settled(files: HdfsFiles, table: str) -> None:
    """Waits until the hint is old enough to have a stamp."""

    def has_stamp() -> bool:
        found = files.read_stamped(f"{table}/snapshot/LATEST")
        return found is not None and found.stamp is not None

    assert wait_until(has_stamp, timeout=20)


def test_an_idle_table_costs_one_call_of_the_namenode_and_no_look_changes_anything(
    hdfs: Hdfs, opened: Opens, lake: str, tmp_path: Path
) -> None:
    table = FabricatedTable(tmp_path / "orders")
    table.commit([data_file("a")])
    location, files = put(hdfs, table, lake), opened()
    settled(files, location)
    observer, changes = Observer(files, location, schema_of()), hdfs.changes
    observed = observer.observe()
    before = len(hdfs.calls_below(f"{lake}/orders"))
    observed = observer.observe(observed)
    assert hdfs.calls_below(f"{lake}/orders")[before:] == ["getfileinfo snapshot/LATEST"]
    assert hdfs.changes == changes, "a look changes nothing in the namespace"
    table.commit([data_file("b")])
    put(hdfs, table, lake)
    contents = observer.observe(observed).contents
    assert contents is not None
    assert (contents.snapshot.id, total_of(contents.sums).files) == (2, len(table.live))


def test_a_directory_of_several_pages_is_listed_as_a_whole(
    hdfs: Hdfs, opened: Opens, lake: str, tmp_path: Path
) -> None:
    names = {f"snapshot-{n}" for n in range(1, 1102)}  # a page has 1,000
    (tmp_path / "many").mkdir()
    for name in names:
        (tmp_path / "many" / name).touch()
    hdfs.shell("-put", str(tmp_path / "many"), lake)
    files = opened()
    assert set(files.names(f"{hdfs.uri}{lake}/many")) == names
    assert list(files.names(f"{hdfs.uri}{lake}/none")) == list(files.names(f"{hdfs.uri}{lake}/many/snapshot-1")) == []
    assert files.read(f"{hdfs.uri}{lake}/many/snapshot-1") == b""
    assert files.read(f"{hdfs.uri}{lake}/many/none") is None


def test_without_access_it_is_unknown(hdfs: Hdfs, opened: Opens, lake: str, tmp_path: Path) -> None:
    (tmp_path / "LATEST").write_text("7")
    hdfs.shell("-put", str(tmp_path / "LATEST"), lake)
    hdfs.shell("-chmod", "700", lake)
    with pytest.raises(UnreadableError, match=rf"AccessControlException: Permission denied: user={realm.STRANGER}"):
        opened(user=realm.STRANGER).read(f"{hdfs.uri}{lake}/LATEST")
    hdfs.shell("-chown", realm.USER, lake)
    assert opened().read(f"{hdfs.uri}{lake}/LATEST") == b"7"


def test_a_dead_namenode_is_unknown_until_it_is_back(hdfs: Hdfs, opened: Opens, lake: str) -> None:
    files = opened()
    assert files.read(f"{hdfs.uri}{lake}/none") is None
    hdfs.namenode.stop()
    try:
        with pytest.raises(UnreadableError, match=r"refused|disconnected|reset|no answer"):
            files.read(f"{hdfs.uri}{lake}/none")
    finally:
        hdfs.start_namenode()
    assert files.read(f"{hdfs.uri}{lake}/none") is None


def test_a_nameservice_whose_first_namenode_is_dead_is_read_from_the_second_one(
    hdfs: Hdfs, opened: Opens, lake: str
) -> None:
    nodes = {"dfs.ha.namenodes.ns": "nn1,nn2", "dfs.namenode.rpc-address.ns.nn1": "127.0.0.1:1"}
    live = {"dfs.namenode.rpc-address.ns.nn2": hdfs.uri.partition("://")[2]}
    assert lake.rpartition("/")[2] in opened(authority="ns", **nodes, **live).names("hdfs://ns/lake")


def test_a_ticket_that_has_expired_is_replaced_from_the_keytab(
    kerberos_hdfs: Hdfs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in pod_environment(kerberos_hdfs, tmp_path, user=realm.HURRIED).items():
        monkeypatch.setenv(name, value)
    files = HdfsFiles.of(kerberos_hdfs.uri, SECURE)
    for _ in range(2):
        assert files.read(f"{kerberos_hdfs.uri}/lake/none") is None
        time.sleep(TICKET_S + 2)
    kerberos_hdfs.namenode.stop()  # (a connection outlives the ticket that it was made with)
    kerberos_hdfs.start_namenode()
    assert files.read(f"{kerberos_hdfs.uri}/lake/none") is None


def test_a_namenode_with_a_short_name_is_found_from_a_pod(
    kerberos_hdfs: Hdfs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The DNS of a Pod has search domains. MIT's library takes the first of them for the domain of `hdfs/namenode`."""
    for name, value in pod_environment(kerberos_hdfs, tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LOCALDOMAIN", "shop.svc.cluster.local")
    assert HdfsFiles.of(kerberos_hdfs.uri, SECURE).read(f"{kerberos_hdfs.uri}/lake/none") is None


def test_a_keytab_of_another_principal_is_unknown(
    kerberos_hdfs: Hdfs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kerberos_hdfs.realm is not None
    for name, value in pod_environment(kerberos_hdfs, tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("KRB5KEYTAB", str(kerberos_hdfs.realm.keytab(realm.STRANGER)))
    with pytest.raises(UnreadableError, match="none: Kerberos: No credentials"):
        HdfsFiles.of(kerberos_hdfs.uri, SECURE).read(f"{kerberos_hdfs.uri}/lake/none")
    assert os.environ["KRB5_CONFIG"] == str(kerberos_hdfs.realm.krb5_conf)
