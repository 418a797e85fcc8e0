"""Files on HDFS: what is asked of the NameNode, what is Unknown, and by which configuration and identity."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from spark_apps.metadata import hdfs
from spark_apps.metadata.base import MAX_BYTES, Stamped, UnreadableError
from spark_apps.metadata.hdfs import HdfsFiles, plain
from spark_apps.metadata.namenodes import NameNodes
from spark_apps.storage.hadoop import BOUNDED

LATEST = "hdfs://lake/w/t/snapshot/LATEST"
PLAIN = "/w/t/snapshot/LATEST"
DENIED = (
    r'RPCError("org.apache.hadoop.security.AccessControlException", "Permission denied: user=eve, access=READ\n\tat'
    r' org.apache.hadoop.hdfs.server.namenode.FSPermissionChecker.check(FSPermissionChecker.java:506)")'
)


@dataclass(frozen=True)
class Status:
    """What hdfs-native tells of a file."""

    path: str
    length: int = 0
    modification_time: int = 0
    isdir: bool = False


@dataclass(frozen=True)
class Opened:
    """An open file of hdfs-native."""

    content: bytes

    def __len__(self) -> int:
        return len(self.content)

    def read_range(self, offset: int, length: int) -> bytes:
        return self.content[offset : offset + length]


@dataclass
class Server:
    """The client of a NameNode whose files are in memory: path -> content and time of the last change."""

    files: dict[str, tuple[bytes, int]] = field(default_factory=dict)
    failure: Exception | None = None
    calls: list[str] = field(default_factory=list)

    def put(self, path: str, content: bytes, age_s: int = 60) -> None:
        self.files[path] = (content, int((time.time() - age_s) * 1000))

    def get_file_info(self, path: str) -> Status:
        content, at = self._found("info", path)
        return Status(path, len(content), at)

    def read(self, path: str) -> Opened:
        return Opened(self._found("read", path)[0])

    def list_status(self, path: str) -> Iterator[Status]:
        self._note("list", path)
        below = {each: at for each, (_, at) in self.files.items() if each == path or each.startswith(f"{path}/")}
        if not below:
            raise FileNotFoundError(path)
        depth = path.count("/") + 1
        directories = {"/".join(each.split("/")[: depth + 1]) for each in below if each.count("/") > depth}
        yield from (Status(each, modification_time=1, isdir=True) for each in directories)
        yield from (Status(each, modification_time=at) for each, at in below.items() if each.count("/") <= depth)

    def _found(self, call: str, path: str) -> tuple[bytes, int]:
        self._note(call, path)
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path]

    def _note(self, call: str, path: str) -> None:
        self.calls.append(f"{call} {path}")
        if self.failure:
            raise self.failure


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def files(server: Server) -> HdfsFiles:
    return HdfsFiles(NameNodes(("nn:8020",), lambda _: server))


def test_a_file_is_read_by_the_path_on_the_server(server: Server, files: HdfsFiles) -> None:
    server.put(PLAIN, b"12")
    server.put("/w/empty", b"")
    assert (files.read(LATEST), files.read("hdfs://lake//w/empty")) == (b"12", b"")
    assert files.read("hdfs://lake/w/none") is None
    assert server.calls == [f"read {PLAIN}", "read /w/empty", "read /w/none"]


@pytest.mark.parametrize(
    ("uri", "path"), [("hdfs://lake", "/"), ("hdfs://lake:8020/a%20b//c d/", "/a%20b/c d"), ("hdfs:///w#?", "/w#?")]
)
def test_a_uri_is_a_path_as_hadoop_reads_it(uri: str, path: str) -> None:
    assert plain(uri) == path


def test_a_large_file_is_not_read(server: Server, files: HdfsFiles) -> None:
    server.put(PLAIN, b"x" * (MAX_BYTES + 1))
    with pytest.raises(UnreadableError, match=f"more than {MAX_BYTES} bytes"):
        files.read(LATEST)


def test_an_unchanged_hint_costs_one_call_of_the_namenode_and_no_read(server: Server, files: HdfsFiles) -> None:
    server.put(PLAIN, b"12")
    first = files.read_stamped(LATEST)
    assert first is not None
    assert first.stamp is not None
    server.calls.clear()
    assert files.read_stamped(LATEST) == first
    assert server.calls == [f"info {PLAIN}"]


CHANGES = {"another content": (b"13", 60), "the same content later": (b"12", 59), "just now": (b"12", 0)}


@pytest.mark.parametrize(("content", "age_s"), CHANGES.values(), ids=CHANGES)
def test_a_hint_that_was_written_again_is_read_again(
    server: Server, files: HdfsFiles, content: bytes, age_s: int
) -> None:
    server.put(PLAIN, b"12", age_s=70)
    first = files.read_stamped(LATEST)
    server.put(PLAIN, content, age_s)
    again = files.read_stamped(LATEST)
    assert first is not None
    assert again is not None
    assert (again.content, again.stamp == first.stamp) == (content, False)


def test_a_hint_that_was_just_written_has_no_stamp_and_is_read_each_time(server: Server, files: HdfsFiles) -> None:
    server.put(PLAIN, b"12", age_s=0)
    assert [files.read_stamped(LATEST), files.read_stamped(LATEST)] == [Stamped(b"12", None)] * 2
    assert server.calls.count(f"read {PLAIN}") == 2


def test_a_hint_that_is_gone_is_no_hint(server: Server, files: HdfsFiles) -> None:
    server.put(PLAIN, b"12")
    files.read_stamped(LATEST)
    del server.files[PLAIN]
    assert files.read_stamped(LATEST) is None


def test_a_directory_lists_names_and_a_missing_one_or_a_file_lists_none(server: Server, files: HdfsFiles) -> None:
    server.put("/w/t/a", b"")
    server.put("/w/t/b", b"")
    assert sorted(files.names("hdfs://lake/w/t/")) == ["a", "b"]
    assert [list(files.names(f"hdfs://lake/w/{each}")) for each in ("none", "t/a")] == [[], []]


def test_a_directory_lists_the_times_of_its_files(server: Server, files: HdfsFiles) -> None:
    server.put("/w/t/a", b"")
    server.put("/w/t/deep/b", b"")
    assert sorted(files.names("hdfs://lake/w/t")) == ["a", "deep"]
    assert list(files.times("hdfs://lake/w/t")) == [("a", server.files["/w/t/a"][1])]
    assert [list(files.times(f"hdfs://lake/w/{each}")) for each in ("none", "t/a")] == [[], []]


NO_TICKET = 'GssMajorCodes { raw: "0x000d0000", calling_error: "none", routine_error: "GSS_S_FAILURE" }'
MINOR = "Unspecified GSS failure.  Minor code may provide more information: "
FAILURES = {
    "no access": (RuntimeError(DENIED), "AccessControlException: Permission denied: user=eve, access=READ$"),
    "a dead server": (OSError("Connection refused (os error 111)"), "Connection refused"),
    "no ticket": (
        RuntimeError(f'GSSAPIError({NO_TICKET}, 2, "{MINOR}Server not found")'),
        "Kerberos: Server not found",
    ),
    "a wrong key": (RuntimeError('GSSAPIError(GSS_S_NO_CRED, 0, "no key")'), "Kerberos: no key"),
    "a failure without words": (ValueError(), "ValueError"),
}


@pytest.mark.parametrize(("failure", "why"), FAILURES.values(), ids=FAILURES)
def test_nothing_is_known_after(server: Server, files: HdfsFiles, failure: Exception, why: str) -> None:
    server.failure = failure
    for ask in (
        files.read,
        files.read_stamped,
        lambda path: list(files.names(path)),
        lambda path: list(files.times(path)),
    ):
        with pytest.raises(UnreadableError, match=f"^{LATEST}: .*{why}"):
            ask(LATEST)


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a server that accepts connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as opened:
        yield f"127.0.0.1:{opened.getsockname()[1]}"


def test_a_namenode_that_says_nothing_is_left_after_its_time(silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hdfs, "ANSWER_S", 0.3)
    monkeypatch.setattr(hdfs, "CONTENT_S", 0.3)
    files = HdfsFiles.of(f"hdfs://{silent}/w", {})
    for ask in (files.read, files.read_stamped, lambda path: list(files.names(path))):
        with pytest.raises(UnreadableError, match=rf"no answer of {silent} within 0\.3 s"):
            ask(f"hdfs://{silent}/w/t")


def test_a_namenode_that_is_dead_is_left_at_once() -> None:
    with pytest.raises(UnreadableError, match="Connection refused"):
        HdfsFiles.of("hdfs://127.0.0.1:1/w", {}).read("hdfs://127.0.0.1:1/w/t")


@dataclass
class Made:
    """The arguments of a client of hdfs-native."""

    url: str
    options: dict[str, str]
    directory: str
    kerberos: dict[str, str]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Made]:
    """The clients that are made."""
    found: list[Made] = []

    class Client(Server):
        def __init__(self, url: str, options: dict[str, str], directory: str, **kerberos: str) -> None:
            super().__init__()
            found.append(Made(url, options, directory, kerberos))

    monkeypatch.setattr("hdfs_native.Client", Client)
    for name in ("HADOOP_CONF_DIR", "KRB5PRINCIPAL", "KRB5KEYTAB", "KRB5_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    return found


def site(directory: Path, **pairs: str) -> None:
    body = "".join(
        f"<property><name>{key.replace('_', '.')}</name><value>{value}</value></property>"
        for key, value in pairs.items()
    )
    (directory / "hdfs-site.xml").write_text(f"<configuration>{body}</configuration>")


def test_options_override_files_and_files_override_bounds(
    made: list[Made], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    site(tmp_path, dfs_replication="3", dfs_blocksize="1m", hadoop_tmp_dir="/tmp")
    HdfsFiles.of("hdfs://nn/w", {"dfs.replication": "2", "dfs.client.socket-timeout": "600000"}).read("hdfs://nn/w/t")
    (client,) = made
    expected = {**BOUNDED, "dfs.replication": "2", "dfs.blocksize": "1m"}
    expected |= {"dfs.client.failover.max.attempts": "0", "dfs.client.socket-timeout": "5000"}
    assert (client.url, client.options) == ("hdfs://nn:8020", expected)
    assert not Path(client.directory).exists(), "hdfs-native reads no file itself"


@pytest.fixture
def secure(made: list[Made], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The krb5.conf of a catalog with Kerberos."""
    file = tmp_path / "krb5.conf"
    file.write_text("[libdefaults]\n default_realm = LAKE.TEST\n")
    for name, value in {"KRB5PRINCIPAL": "paimon@LAKE.TEST", "KRB5KEYTAB": "/k/keytab", "KRB5_CONFIG": file}.items():
        monkeypatch.setenv(name, str(value))
    yield file
    os.putenv("KRB5_CONFIG", str(file))


SECURE = {"hadoop.security.authentication": "kerberos"}


def test_with_kerberos_the_keytab_logs_in_by_a_ticket_that_no_server_can_use(made: list[Made], secure: Path) -> None:
    HdfsFiles.of("hdfs://nn/w", SECURE).read("hdfs://nn/w/t")
    assert made[0].kerberos == {"kerberos_principal": "paimon@LAKE.TEST", "kerberos_keytab": "/k/keytab"}
    said = subprocess.run(["printenv", "KRB5_CONFIG"], capture_output=True, text=True, check=True)
    first, _, second = said.stdout.strip().partition(":")
    assert "forwardable = false" in Path(first).read_text()
    assert (second, os.environ["KRB5_CONFIG"]) == (str(secure), str(secure))


def test_without_kerberos_nothing_logs_in(made: list[Made], secure: Path) -> None:
    HdfsFiles.of("hdfs://nn/w", {}).read("hdfs://nn/w/t")
    assert made[0].kerberos == {}


@pytest.mark.parametrize("line", ["include /etc/passwd", "[plugins]", " plugin_base_dir = /data"])
def test_a_krb5_conf_that_reads_or_loads_other_files_is_refused(made: list[Made], secure: Path, line: str) -> None:
    secure.write_text(f"[libdefaults]\n{line}\n")
    with pytest.raises(UnreadableError, match=r"krb5\.conf"):
        HdfsFiles.of("hdfs://nn/w", SECURE)


def test_refused_files_of_hadoop_leave_it_to_the_jvm(
    made: list[Made], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    site(tmp_path, dfs_replication="${env.SECRET}")
    with pytest.raises(UnreadableError, match="contains"):
        HdfsFiles.of("hdfs://nn/w", {})
