"""Which NameNodes are asked, in which order, and what a NameNode that does not answer costs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.namenodes import MOST_LEFT_BEHIND, NameNodes, addresses_of
from tests.cluster.processes import wait_until

STANDBY = RuntimeError('RPCError("org.apache.hadoop.ipc.StandbyException", "Operation category READ is not supported")')
REFUSED = RuntimeError('RPCError("org.apache.hadoop.security.AccessControlException", "Permission denied")')
HA = {
    "dfs.ha.namenodes.lake": "nn1, nn2",
    "dfs.namenode.rpc-address.lake.nn1": "one:9000",
    "dfs.namenode.rpc-address.lake.nn2": "two",
}
ADDRESSES = {
    "one NameNode": ("nn:8120", {}, ("nn:8120",)),
    "one NameNode without a port": ("nn", {}, ("nn:8020",)),
    "a nameservice": ("lake", HA, ("one:9000", "two:8020")),
    "the default of core-site.xml": ("", {**HA, "fs.defaultFS": "hdfs://lake/"}, ("one:9000", "two:8020")),
}


@pytest.mark.parametrize(("authority", "options", "expected"), ADDRESSES.values(), ids=ADDRESSES)
def test_the_namenodes_are_those_of(authority: str, options: dict[str, str], expected: tuple[str, ...]) -> None:
    assert addresses_of(authority, options) == expected


UNKNOWN = {
    "a NameNode without an address": ("lake", {**HA, "dfs.ha.namenodes.lake": "nn1,nn3"}, "rpc-address.lake.nn3"),
    "a nameservice without NameNodes": ("lake", {"dfs.ha.namenodes.lake": " "}, "lacks NameNodes"),
    "names that the DNS resolves": ("lake", {**HA, "dfs.client.failover.resolve-needed.lake": "true"}, "DNS"),
    "no server at all": ("", {}, "fs.defaultFS"),
}


@pytest.mark.parametrize(("authority", "options", "why"), UNKNOWN.values(), ids=UNKNOWN)
def test_only_hadoop_finds_them_for(authority: str, options: dict[str, str], why: str) -> None:
    with pytest.raises(UnreadableError, match=why):
        addresses_of(authority, options)


@dataclass
class Cluster:
    """NameNodes whose clients do what `answers` says, by address."""

    answers: dict[str, Callable[[], str] | Exception]
    asked: list[str] = field(default_factory=list)
    connected: list[str] = field(default_factory=list)

    def nodes(self) -> NameNodes:
        def connect(address: str) -> Callable[[], str]:
            self.connected.append(address)
            return lambda: self._answer(address)

        return NameNodes(tuple(self.answers), connect)

    def _answer(self, address: str) -> str:
        self.asked.append(address)
        answer = self.answers[address]
        if isinstance(answer, Exception):
            raise answer
        return answer()


def asked(nodes: NameNodes, seconds: float = 20) -> str:
    found: str = nodes.ask(lambda client: client(), seconds)
    return found


@pytest.mark.parametrize("failure", [STANDBY, ConnectionRefusedError("refused")], ids=["standby", "dead"])
def test_the_next_namenode_is_asked_and_stays_the_first_one(failure: Exception) -> None:
    cluster = Cluster({"one": failure, "two": lambda: "found"})
    nodes = cluster.nodes()
    assert [asked(nodes), asked(nodes)] == ["found", "found"]
    assert (cluster.asked, cluster.connected) == (["one", "two", "two"], ["one", "two"])


@pytest.mark.parametrize("answer", [REFUSED, FileNotFoundError("/lake")], ids=["no access", "no file"])
def test_an_answer_about_the_file_is_the_answer(answer: Exception) -> None:
    cluster = Cluster({"one": answer, "two": lambda: "found"})
    with pytest.raises(type(answer)) as raised:
        asked(cluster.nodes())
    assert (raised.value, cluster.asked) == (answer, ["one"])


def test_the_failure_of_the_first_one_counts_if_none_answers() -> None:
    cluster = Cluster({"one": OSError("one is dead"), "two": STANDBY})
    nodes = cluster.nodes()
    for _ in range(2):
        with pytest.raises(OSError, match="one is dead"):
            asked(nodes)
    assert cluster.connected == ["one", "two", "one"], "a connection that has failed is not used again"


def test_a_panic_is_a_failure() -> None:
    class Panic(BaseException):
        """As hdfs-native raises it."""

    def answer() -> str:
        raise Panic("not yet implemented")

    with pytest.raises(RuntimeError, match="Panic: not yet implemented"):
        asked(Cluster({"one": answer}).nodes())


def test_a_silent_namenode_is_left_behind_and_the_next_one_answers() -> None:
    end = threading.Event()
    cluster = Cluster({"one": lambda: str(end.wait(60)), "two": lambda: "found"})
    assert asked(cluster.nodes(), 0.2) == "found"
    end.set()


def test_no_call_begins_while_many_are_left_behind() -> None:
    end = threading.Event()
    cluster = Cluster({"one": lambda: str(end.wait(60))})
    nodes = cluster.nodes()
    for _ in range(MOST_LEFT_BEHIND):
        with pytest.raises(TimeoutError, match="no answer of one within"):
            asked(nodes, 0.01)
    with pytest.raises(TimeoutError, match="earlier calls still wait"):
        asked(nodes)
    assert len(cluster.asked) == MOST_LEFT_BEHIND
    end.set()
    cluster.answers["one"] = lambda: "found"

    def answers() -> bool:
        try:
            return asked(nodes) == "found"
        except TimeoutError:
            return False

    assert wait_until(answers, timeout=20)
