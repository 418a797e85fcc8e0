"""Files on HDFS, by hdfs-native, which is Rust. Imported only for a warehouse on HDFS.

Configuration and identity are those of the drivers (`storage/hadoop.py`): the allowed keys of the catalog's files, its
options, and either a user name or the principal with its keytab. MIT's library logs in for each new connection, so a
ticket needs no renewal.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

import hdfs_native

from paimon_contract import environment
from spark_apps.failures.causes import first_line
from spark_apps.failures.errors import RunError
from spark_apps.metadata.base import MAX_BYTES, SETTLED_S, Stamped, UnreadableError
from spark_apps.metadata.namenodes import NameNodes, addresses_of
from spark_apps.storage import hadoop
from spark_apps.storage.hadoop_files import check_krb5

ANSWER_S: Final = 10
"""Seconds that a NameNode has for one answer, with the login before it."""
CONTENT_S: Final = 20
"""Seconds that a whole file may take."""
_OWN: Final = {
    "dfs.client.failover.max.attempts": "0",  # `NameNodes` asks the next one
    "dfs.client.socket-timeout": "5000",  # of a DataNode; another one may have the block
}
_NO_FILES: Final = "/nonexistent"
"""In place of HADOOP_CONF_DIR: hdfs-native would read all keys, and follow entities."""
_SAFER: Final = Path(__file__).with_name("krb5.conf")
_LOADS_CODE: Final = re.compile(r"^\s*(\[plugins\]|plugin_base_dir)", re.MULTILINE)
_MOST_KEPT: Final = 10_000
_SMALL: Final = 64
"""Bytes up to which a stamped content is kept. A hint has about ten."""
_SAID_BY_KERBEROS: Final = re.compile(r'^GSSAPIError\(.*?"([^"]*)"\)$')
_PREFIX: Final = re.compile(r"^Unspecified GSS failure\. +Minor code may provide more information: ")
_SAID_BY_SERVER: Final = re.compile(r'RPCError\("(?:[\w$]+\.)*([\w$]+)", "(.*?)(?:\\n|"\)$)')


@dataclass(frozen=True)
class HdfsFiles:
    """The files of one HDFS: `hdfs://nameservice/warehouse/t`. A URI's server is that of the warehouse."""

    nodes: NameNodes
    _known: dict[str, Stamped] = field(default_factory=dict)
    """Path -> a small content with its stamp, so that an unchanged file is not read again."""

    @classmethod
    def of(cls, warehouse: str, hadoop_options: Mapping[str, str]) -> Self:
        """The HDFS of the warehouse, as the variables of the Pod say. Raises UnreadableError."""
        try:
            options = {**hadoop.options(), **hadoop_options, **_OWN}
            login = _login(options)
        except (RunError, OSError) as error:
            raise UnreadableError(f"{warehouse}: {first_line(str(error))}") from error
        authority = warehouse.partition("://")[2].partition("/")[0]

        def connect(address: str) -> Any:
            return hdfs_native.Client(f"hdfs://{address}", options, _NO_FILES, **login)

        return cls.with_options(NameNodes(addresses_of(authority, options), connect), options)

    @classmethod
    def with_options(cls, nodes: NameNodes, options: Mapping[str, str]) -> Self:  # noqa: ARG003  (for subclasses)
        """The files that these NameNodes have, with the options of Hadoop. Raises UnreadableError."""
        return cls(nodes)

    def read(self, path: str, max_bytes: int = MAX_BYTES) -> bytes | None:
        """The content of a file; None: no such file. Raises UnreadableError for more than `max_bytes`."""

        def content(client: Any) -> bytes:
            file = client.read(plain(path))
            size = len(file)
            if size > max_bytes:
                raise UnreadableError(f"{path} has more than {max_bytes} bytes")
            return bytes(file.read_range(0, size)) if size else b""

        with readable(path):
            try:
                return self.nodes.ask(content, CONTENT_S)
            except FileNotFoundError:
                return None

    def read_stamped(self, path: str) -> Stamped | None:
        """The content of a small file with its stamp; None: no such file. One call of the NameNode if it is the same.

        The stamp is older than the content, so a write between the two shows as another stamp later.
        """
        with readable(path):
            try:
                status = self.nodes.ask(lambda client: client.get_file_info(plain(path)), ANSWER_S)
            except FileNotFoundError:
                return None
        stamp = f"{status.modification_time}/{status.length}"
        known = self._known.get(path)
        if known is not None and known.stamp == stamp:
            return known
        content = self.read(path)
        return None if content is None else self._keep(path, Stamped(content, _settled(stamp, status)))

    def _keep(self, path: str, found: Stamped) -> Stamped:
        if found.stamp is not None and len(found.content) <= _SMALL:
            if len(self._known) >= _MOST_KEPT:
                self._known.clear()
            self._known[path] = found
        return found

    def names(self, directory: str) -> Iterator[str]:
        """Names of the files and directories in a directory; none where it does not exist."""
        yield from (_name(each) for each in self._listed(directory))

    def times(self, directory: str) -> Iterator[tuple[str, int]]:
        """Names of the files in a directory with their times."""
        files = (each for each in self._listed(directory) if not each.isdir)
        yield from ((_name(each), each.modification_time) for each in files)

    def _listed(self, directory: str) -> list[Any]:
        """The entries of a directory; none where it does not exist."""
        place = plain(directory)

        def listed(client: Any) -> list[Any]:  # in pages of the NameNode's size; a file lists itself
            return [each for each in client.list_status(place) if each.path != place]

        with readable(directory):
            try:
                return self.nodes.ask(listed, CONTENT_S)
            except FileNotFoundError:
                return []


def _name(status: Any) -> str:
    name: str = status.path.rpartition("/")[2]
    return name


def _settled(stamp: str, status: Any) -> str | None:
    """Times have milliseconds. An old one is of a file that nobody is about to replace within the same one."""
    return stamp if time.time() * 1000 - status.modification_time >= SETTLED_S * 1000 else None


def plain(uri: str) -> str:
    """The path on the server, without empty parts. Like Hadoop's, it is not percent-encoded."""
    path = uri.partition("://")[2].partition("/")[2] if "://" in uri else uri
    return "/" + re.sub("/+", "/", path).strip("/")


def _login(options: Mapping[str, str]) -> dict[str, str]:
    """How hdfs-native logs in; nothing without a keytab. Raises RunError, OSError and UnreadableError."""
    os.environ.setdefault(environment.TOKIO_WORKER_THREADS, "2")  # of each client; else one for each core of the node
    principal, keytab = os.environ.get(environment.KRB5PRINCIPAL), os.environ.get(environment.KRB5KEYTAB)
    if options.get("hadoop.security.authentication") != "kerberos" or not principal or not keytab:
        return {}
    krb5 = os.environ.get(environment.KRB5_CONFIG)
    if krb5:
        check_krb5(Path(krb5))
        if _LOADS_CODE.search(Path(krb5).read_text(encoding="utf-8", errors="replace")):
            raise UnreadableError("krb5.conf of the catalog's ConfigMap names plug-ins, which MIT's library would load")
        # For C alone: Java and this program's other parts have the one file. The first file has precedence.
        os.putenv(environment.KRB5_CONFIG, f"{_SAFER}:{krb5}")
    return {"kerberos_principal": principal, "kerberos_keytab": keytab}


@contextmanager
def readable(path: str) -> Iterator[None]:
    """Turns failures of hdfs-native into UnreadableError."""
    try:
        yield
    except (FileNotFoundError, UnreadableError):
        raise
    except Exception as error:  # (hdfs-native has no class for its failures)
        raise UnreadableError(f"{path}: {_clause(error)}") from error


def _clause(error: Exception) -> str:
    """What went wrong, without the stack trace that a server sends along."""
    by_kerberos = _SAID_BY_KERBEROS.search(str(error))
    if by_kerberos is not None:
        return f"Kerberos: {_PREFIX.sub('', by_kerberos[1])}"
    said = _SAID_BY_SERVER.search(str(error))
    return f"{said[1]}: {said[2]}".replace(r"\"", '"') if said else first_line(str(error)) or type(error).__name__
