"""Reads core-site.xml and hdfs-site.xml of the catalog's ConfigMap, without Hadoop.

Hadoop's own reader would replace `${env.X}` by variables of the process, include other files, and load any class that
a key names. Here a file can only give values to the keys of ALLOWED. Other keys are not handed to Hadoop: the files of
a cluster have hundreds that a client does not need. The log names them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn
from xml.parsers import expat

from spark_apps.failures.errors import RunError
from spark_apps.progress import log_warning

FILES: Final = ("core-site.xml", "hdfs-site.xml")
_ANY: Final = r".*"
_ADDRESS: Final = r"[A-Za-z0-9_.:\[\]-]+"
_WORDS: Final = r"[A-Za-z0-9_.,\s-]*"
_PRINCIPAL: Final = r"[A-Za-z0-9_./*@-]+"
_BY_CODE_OR_FILE: Final = (
    r"failover\.(proxy\.provider|resolver\.impl)|replica\.accessor|domain\.socket|read\.shortcircuit|https\."
)
_NAME: Final = r"[^.]+"
"""One part of a key: the id of a nameservice or of a NameNode."""

ALLOWED: Final[Mapping[str, str]] = {
    # Where the cluster is. Source of this and the next group: hdfs-default.xml and core-default.xml of Hadoop 3.4.
    r"fs\.(defaultFS|default\.name)": rf"[a-z][a-z0-9]*://{_ADDRESS}/?",
    r"dfs\.(internal\.)?nameservices": _WORDS,
    rf"dfs\.ha\.namenodes\.{_NAME}": _WORDS,
    rf"dfs\.namenode\.rpc-address(\.{_NAME}){{0,2}}": _ADDRESS,
    rf"dfs\.client\.failover\.proxy\.provider\.{_NAME}": r"org\.apache\.hadoop\.hdfs\.server\.namenode\.ha\.[A-Za-z]+",
    # How the client waits, retries, writes and reads. No key that names a class is among them.
    rf"dfs\.client\.(?!{_BY_CODE_OR_FILE}).+": _ANY,
    r"ipc\.(client\..+|ping\.interval|maximum\.(data|response)\.length)": _ANY,
    r"dfs\.(blocksize|block\.size|replication|bytes-per-checksum|checksum\.type|client-write-packet-size)": _WORDS,
    r"dfs\.(datanode\.socket\.write\.timeout|datanode\.use\.datanode\.hostname|heartbeat\.interval)": _WORDS,
    r"(io\.file\.buffer\.size|fs\.permissions\.umask-mode|fs\.trash\.interval)": _WORDS,
    # Who may connect, and how the connection is protected.
    r"hadoop\.security\.authentication": r"simple|kerberos",
    r"hadoop\.security\.(authorization|token\.service\.use_ip)": r"true|false",
    r"hadoop\.security\.auth_to_local(\.mechanism)?": _ANY,
    r"hadoop\.rpc\.protection|dfs\.data\.transfer\.protection": _WORDS,
    r"dfs\.encrypt\.data\.transfer(\.algorithm|\.cipher\.suites|\.cipher\.key\.bitlength)?": r"[A-Za-z0-9/_-]+",
    r"dfs\.(namenode|datanode)\.kerberos\.principal(\.pattern)?": _PRINCIPAL,
    r"dfs\.block\.access\.token\.enable": r"true|false",
    r"hadoop\.kerberos\.(min\.seconds\.before\.relogin|keytab\.login\.autorenewal\.enabled)": _WORDS,
    r"(hadoop\.security\.key\.provider\.path|dfs\.encryption\.key\.provider\.uri)": rf"kms://https?@{_ADDRESS}/kms",
}
"""Key -> its possible values, both as regular expressions. A value that is not possible is refused, with its key."""

_FIELD: Final = "spec.storage.hdfs.configMapRef"
_KRB5_FIELD: Final = "spec.storage.hdfs.kerberos.krb5ConfigMapRef"
_KRB5_READS: Final = re.compile(r"^[\x00-\x20]*(include|includedir|module)\s", re.MULTILINE)
"""Java ignores all control characters at the beginning of a line."""
_TAGS: Final = frozenset({"configuration", "property", "name", "value", "final", "description", "source"})


@dataclass(frozen=True)
class Property:
    """One property of a file."""

    key: str
    value: str
    is_final: bool


def read_directory(directory: Path) -> dict[str, str]:
    """The allowed properties of the files in `directory`. Raises RunError when one is unreadable or refused."""
    found: dict[str, str] = {}
    fixed: set[str] = set()
    for name in FILES:
        file = directory / name
        for each in read_properties(name, file.read_bytes()) if file.exists() else ():
            if each.key not in fixed:
                found[each.key] = each.value
            if each.is_final:
                fixed.add(each.key)
    return found


def read_properties(name: str, content: bytes) -> list[Property]:
    """The allowed properties of one file, in its order. Raises RunError, which names the file and the key."""
    properties = list(_Parser(name).parse(content))
    unused = sorted({each.key for each in properties if _possible(each.key) is None})
    if unused:
        log_warning(f"{name}: {len(unused)} keys are not used: {', '.join(unused)}")
    used = [each for each in properties if _possible(each.key) is not None]
    for each in used:
        _check(name, each)
    return used


def check_krb5(file: Path) -> None:
    """Raises RunError when a krb5.conf reads other files."""
    found = _KRB5_READS.search(file.read_text(encoding="utf-8", errors="replace"))
    if found is not None:
        _refuse("krb5.conf", f"the line {found[1]!r} reads other files", "write all settings into it", _KRB5_FIELD)


def _possible(key: str) -> str | None:
    return next((values for keys, values in ALLOWED.items() if re.fullmatch(keys, key)), None)


def _check(name: str, given: Property) -> None:
    if "${" in given.value:
        _refuse(name, f"the value of {given.key} contains ${{", "write the value itself")
    if re.fullmatch(_possible(given.key) or "", given.value, re.DOTALL | re.IGNORECASE) is None:
        _refuse(name, f"{given.key} cannot be {given.value[:100]!r}", "correct the value, or remove the key")


def _refuse(name: str, what: str, remedy: str, field: str = _FIELD) -> NoReturn:
    raise RunError(
        "Environment", "ConfigurationRefused", f"{name} of the catalog's ConfigMap: {what}", remedy, field=field
    )


class _Parser:
    """One parse of one file. Refuses what Hadoop's reader would follow: document types, entities, XInclude."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._found: list[Property] = []
        self._current: dict[str, str] = {}
        self._text: list[str] = []

    def parse(self, content: bytes) -> Iterator[Property]:
        parser = expat.ParserCreate()
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append
        try:
            parser.Parse(content, True)
        except expat.ExpatError as error:
            _refuse(self._name, f"it cannot be read: {error}", "correct the file")
        yield from self._found

    def _doctype(self, *_: object) -> None:
        _refuse(self._name, "it has a document type, which can define entities", "remove <!DOCTYPE ...>")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag not in _TAGS:
            _refuse(self._name, f"it has the element <{tag[:60]}>", "write every property into the file itself")
        if tag == "property":
            self._current = dict(attributes)
        self._text.clear()

    def _end(self, tag: str) -> None:
        if tag == "property":
            key, value = (self._current.get(each, "").strip() for each in ("name", "value"))
            if key:
                self._found.append(Property(key, value, self._current.get("final", "").strip() == "true"))
        else:
            self._current[tag] = "".join(self._text)
        self._text.clear()
