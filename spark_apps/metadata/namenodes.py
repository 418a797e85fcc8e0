"""The NameNodes of an HDFS, asked by hdfs-native: one after the other, and each for a bounded time.

hdfs-native waits for a NameNode without a bound, and tries no other one meanwhile. So each has a client of its own, and
each call a thread that is left behind when its time is over. hdfs-native's asynchronous client needs no thread, but
Python can wait for ever when it drops one: that waits for threads of Rust, with the lock that these wait for.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from spark_apps.metadata.base import UnreadableError

DEFAULT_PORT: Final = 8020
MOST_LEFT_BEHIND: Final = 16
"""Calls that still wait although their time is over, above which no other one begins."""
_STANDBY: Final = "StandbyException"
"""In what a NameNode says that has only been asked while another one is active."""
_OF_THE_FILE: Final = (FileNotFoundError, IsADirectoryError)

AnswerT = TypeVar("AnswerT")


def addresses_of(authority: str, options: Mapping[str, str]) -> tuple[str, ...]:
    """Host and port of each NameNode of `hdfs://authority/`. Raises UnreadableError where only Hadoop finds them."""
    nodes = options.get(f"dfs.ha.namenodes.{authority}")
    if nodes is None:
        return (_with_port(authority),) if authority else _default(options)
    if options.get(f"dfs.client.failover.resolve-needed.{authority}", "").lower() == "true":
        raise UnreadableError(f"Hadoop asks the DNS for the NameNodes of {authority}")
    keys = [f"dfs.namenode.rpc-address.{authority}.{node.strip()}" for node in nodes.split(",") if node.strip()]
    missing = next((key for key in keys if key not in options), None)
    if missing or not keys:
        raise UnreadableError(f"the configuration of {authority} lacks {missing or 'NameNodes'}")
    return tuple(_with_port(options[key]) for key in keys)


def _default(options: Mapping[str, str]) -> tuple[str, ...]:
    authority = options.get("fs.defaultFS", "").partition("://")[2].strip("/")
    if not authority:
        raise UnreadableError("neither the warehouse nor fs.defaultFS names a NameNode")
    return addresses_of(authority, options)


def _with_port(address: str) -> str:
    address = address.strip()
    return address if address.rpartition(":")[2].isdecimal() else f"{address}:{DEFAULT_PORT}"


@dataclass
class NameNodes:
    """The NameNodes at `addresses`, of which one is active. Threads share it."""

    addresses: Sequence[str]
    connect: Callable[[str], Any]
    """Makes the client of one NameNode. It connects when it is first asked."""
    _clients: dict[str, Any] = field(default_factory=dict)
    _active: str = ""
    _left_behind: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, question: Callable[[Any], AnswerT], seconds: float) -> AnswerT:
        """The answer of the active NameNode, by a question to its client. Each NameNode has `seconds` for it.

        Raises what hdfs-native raises for a file, and otherwise the failure of the first one that was asked.
        """
        first: Exception | None = None
        for address in self._in_order():
            try:
                answer = self._ask(address, question, seconds)
            except _OF_THE_FILE:
                raise
            except Exception as error:
                first = first or error
                if not self._may_another(address, error):
                    raise first from error
            else:
                self._active = address
                return answer
        raise first or UnreadableError("no NameNode is known")

    def _in_order(self) -> Iterator[str]:
        """The active one first."""
        return iter(sorted(self.addresses, key=lambda address: address != self._active))

    def _may_another(self, address: str, error: Exception) -> bool:
        """Whether another NameNode may answer. A connection that has failed is not used again."""
        if isinstance(error, OSError):
            with self._lock:
                self._clients.pop(address, None)
            return True
        return _STANDBY in str(error)

    def _ask(self, address: str, question: Callable[[Any], AnswerT], seconds: float) -> AnswerT:
        with self._lock:
            if self._left_behind >= MOST_LEFT_BEHIND:
                raise TimeoutError(f"{self._left_behind} earlier calls still wait")
            client = self._clients.get(address) or self._clients.setdefault(address, self.connect(address))
        call = _Call(self, question, client)
        threading.Thread(target=call.run, name="hdfs", daemon=True).start()
        answer: AnswerT = call.answer(seconds, address)
        return answer

    def count_left_behind(self, more: int) -> None:
        """Called when a call is left behind (1), and when it ends after all (-1)."""
        with self._lock:
            self._left_behind += more


class _Call:
    """A question that is asked in a thread."""

    def __init__(self, nodes: NameNodes, question: Callable[[Any], Any], client: Any) -> None:
        self._nodes, self._question, self._client = nodes, question, client
        self._lock, self._is_over, self._is_left = threading.Lock(), False, False
        self._found: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

    def run(self) -> None:
        """Asks. A panic of hdfs-native is no Exception of Python's."""
        try:
            found: tuple[Any, BaseException | None] = (self._question(self._client), None)
        except BaseException as error:  # noqa: BLE001  (raised again by the thread that waits)
            found = (None, error)
        self._found.put(found)
        with self._lock:
            self._is_over = True
            if self._is_left:
                self._nodes.count_left_behind(-1)

    def answer(self, seconds: float, address: str) -> Any:
        """What it has found. Raises TimeoutError, and leaves the thread behind."""
        try:
            answer, error = self._found.get(timeout=seconds)
        except queue.Empty:
            with self._lock:
                if not self._is_over:
                    self._is_left = True
                    self._nodes.count_left_behind(1)
            raise TimeoutError(f"no answer of {address} within {seconds:g} s") from None
        if isinstance(error, Exception):
            raise error
        if error is not None:
            raise RuntimeError(f"{type(error).__name__}: {error}") from error
        return answer
