"""One HDFS: its NameNode and DataNode, each a process that can be stopped and started alone, and a client's view."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster.hdfs import realm, sites
from tests.cluster.hdfs.programs import ADMIN, DATANODE, NAMENODE, SHELL, java
from tests.cluster.hdfs.realm import Realm
from tests.cluster.processes import Daemon, wait_until
from tests.cluster.progress import CommandFailedError, run

LOGGING = """\
log4j.rootLogger=INFO,stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
"""


HOSTS = "hosts"
RECENTLY = 2
"""Seconds; a DataNode reports every second."""

_GET = """
import ssl, sys, urllib.request
context = ssl._create_unverified_context() if sys.argv[1].startswith("https") else None
print(urllib.request.urlopen(sys.argv[1], timeout=5, context=context).read().decode())
"""
# A process of its own, because it must be in the servers' network.


def directly(command: Sequence[str]) -> list[str]:
    """Returns the command unchanged: it runs in the network of this process."""
    return list(command)


@dataclass(frozen=True)
class Hdfs:
    """An HDFS below one directory. `realm` is set for an HDFS that requires Kerberos."""

    home: Path
    address: str
    ports: Mapping[str, int]
    daemon: Callable[[str], Daemon]
    around: Callable[[Sequence[str]], list[str]] = directly
    """Wraps a command so that it runs in the servers' network."""
    realm: Realm | None = None

    @property
    def uri(self) -> str:
        return f"hdfs://{self.address}:{self.ports['rpc']}"

    @property
    def namenode(self) -> Daemon:
        return self.daemon("namenode")

    @property
    def datanode(self) -> Daemon:
        return self.daemon("datanode")

    def client_files(self) -> dict[str, str]:
        """Returns what a client needs: the content of a catalog's ConfigMap."""
        secure = self.realm is not None
        core = sites.core_site(self.address, self.ports["rpc"], secure=secure)
        return {"core-site.xml": sites.xml(core), "hdfs-site.xml": sites.xml(sites.client_site(secure=secure))}

    def start(self) -> None:
        """Starts what does not run, and waits until a file can be written. Creates all files at the first call."""
        made = self.home / "made"
        first = not made.exists()
        if first:
            self.stop()
            self._remove()  # left by an interrupted first call
            self._create()
        if self.realm and self.realm.daemon.pid() is None:
            self.realm.start()
        if first:
            run(self.around(self._java(NAMENODE, "-format", "-nonInteractive", heap="256m")))
        self._start(self.namenode, NAMENODE)
        self.start_datanode()
        if first:
            self.shell("-mkdir", "-p", "/lake", "/landing")
            self.shell("-chown", realm.USER, "/lake", "/landing")
            made.touch()

    def start_namenode(self) -> None:
        """Starts the NameNode and waits until it accepts writes."""
        self._start(self.namenode, NAMENODE)
        self._wait(self.namenode, self._can_be_written)

    def start_datanode(self) -> None:
        """Starts the DataNode and waits until the NameNode accepts writes to it."""
        self._start(self.datanode, DATANODE)
        self._wait(self.datanode, lambda: bool(self._ask("datanode-web", "DataNode,name=DataNodeInfo")))
        self._wait(self.namenode, self._can_be_written)

    def stop(self) -> None:
        """Stops all processes and keeps the files."""
        for daemon in (self.datanode, self.namenode):
            daemon.stop()
        if self.realm:
            self.realm.stop()

    def shell(self, *arguments: str, user: str = "") -> str:
        """Runs Hadoop's file shell, by default as the superuser, and returns what it printed."""
        return run(self.around(self._java(SHELL, *arguments, heap="256m")), env=self._identity(user))

    def administer(self, *arguments: str) -> str:
        """Runs an administration command of the NameNode, as the superuser."""
        return run(self.around(self._java(ADMIN, *arguments, heap="256m")), env=self._identity(""))

    @property
    def changes(self) -> int:
        """Returns the number of changes of the namespace since it was made: each is a transaction of its journal."""
        journal = self._ask("web", "NameNode,name=NameNodeInfo")["JournalTransactionInfo"]
        return int(json.loads(journal)["LastAppliedOrWrittenTxId"])

    def calls_below(self, path: str) -> list[str]:
        """Returns the calls about files below a path that the NameNode has answered: `open snapshot/LATEST`."""
        calls = re.findall(r"\tcmd=(\w+)\tsrc=(\S+)", self.namenode.log_file.read_text(errors="replace"))
        return [f"{name} {of.removeprefix(path + '/')}" for name, of in calls if of.startswith(path + "/")]

    def _can_be_written(self) -> bool:
        """Returns whether the NameNode has left safe mode and got a recent heartbeat of its DataNode."""
        said = self._ask("web", "NameNode,name=NameNodeInfo")
        if not said or said["Safemode"]:
            return False
        nodes = json.loads(said["LiveNodes"]).values()
        return any(node["lastContact"] <= RECENTLY for node in nodes)

    def _ask(self, server: str, bean: str) -> dict[str, Any]:
        """Returns one bean of a server's JMX page, empty while the server does not answer."""
        scheme = "https" if self.realm else "http"
        page = f"{scheme}://{self.address}:{self.ports[server]}/jmx?qry=Hadoop:service={bean}"
        try:
            beans = json.loads(run(self.around([sys.executable, "-c", _GET, page])))["beans"]
        except CommandFailedError:
            return {}
        return dict(beans[0]) if beans else {}

    def _identity(self, user: str) -> dict[str, str]:
        if self.realm is None:
            # A test may have set the variable for its own process.
            own = {name: value for name, value in os.environ.items() if name != "HADOOP_USER_NAME"}
            return own | ({"HADOOP_USER_NAME": user} if user else {})
        principal = user or realm.SERVER
        return {
            **os.environ,
            "KRB5PRINCIPAL": f"{principal}@{realm.NAME}",
            "KRB5KEYTAB": str(self.realm.keytab(principal)),
        }

    def _java(self, main: str, *arguments: str, heap: str) -> list[str]:
        conf = self.home / "conf"
        # Addresses have no names here, and each query of the unreachable name server takes ten seconds.
        system = [f"-Djdk.net.hosts.file={conf / HOSTS}"]
        if self.realm:
            system.append(f"-Djava.security.krb5.conf={self.realm.krb5_conf}")
        return java(main, *arguments, conf=conf, heap=heap, system=tuple(system))

    def _start(self, daemon: Daemon, main: str) -> None:
        if daemon.pid() is None:
            daemon.start(self.around(self._java(main, heap="384m")), env=self._identity(""))

    def _remove(self) -> None:
        for home in (self.home, *([self.realm.home] if self.realm else [])):
            shutil.rmtree(home, ignore_errors=True)

    def _create(self) -> None:
        conf = self.home / "conf"
        conf.mkdir(parents=True)
        if self.realm:
            self.realm.create()
            sites.write_web_key(conf, self.address)
        core = sites.core_site(self.address, self.ports["rpc"], secure=self.realm is not None)
        (conf / "core-site.xml").write_text(sites.xml(core))
        site = sites.server_site(self.home, self.address, self.ports, self.realm)
        (conf / "hdfs-site.xml").write_text(sites.xml(site))
        (conf / "log4j.properties").write_text(LOGGING)
        (conf / HOSTS).write_text(f"127.0.0.1 localhost {socket.gethostname()}\n")

    def _wait(self, daemon: Daemon, ready: Callable[[], bool]) -> None:
        def answers() -> bool:
            daemon.check_alive()
            return ready()

        if not wait_until(answers, timeout=120, interval=0.5):
            raise TimeoutError(f"{daemon.name} is not ready. Its log ends:\n{daemon.log_tail()}")
