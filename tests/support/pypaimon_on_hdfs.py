"""pypaimon as a writer of tables on HDFS: Hadoop's own shell carries the files, because pypaimon reaches HDFS only
through libhdfs, which no package here contains.

A commit is as atomic as that of any writer on HDFS: the snapshot comes last, and one that exists is not replaced.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from tests.cluster.hdfs import realm
from tests.cluster.hdfs.servers import Hdfs
from tests.support import pypaimon_tables

_HINTS: Final = ("EARLIEST", "LATEST")


def create_table(hdfs: Hdfs, warehouse: str, database: str, table: Mapping[str, Any]) -> None:
    """Creates a table (see `pypaimon_tables.create_tables`) in a database that may exist."""
    with tempfile.TemporaryDirectory() as scratch:
        pypaimon_tables.create_tables(Path(scratch).as_uri(), database, [table])
        target = f"{warehouse}/{database}.db"
        hdfs.shell("-mkdir", "-p", target, user=realm.USER)
        hdfs.shell("-put", str(Path(scratch, f"{database}.db", table["name"])), target, user=realm.USER)


def write_commits(
    hdfs: Hdfs, warehouse: str, database: str, table: str, commits: Iterable[Iterable[Mapping[str, Any]]]
) -> None:
    """Makes commits of these rows, one after the other."""
    with tempfile.TemporaryDirectory() as scratch:
        local = Path(scratch, f"{database}.db", table)
        local.parent.mkdir()
        remote = f"{warehouse}/{database}.db/{table}"
        hdfs.shell("-get", remote, str(local.parent), user=realm.USER)
        before = _files(local)
        named = [(table, rows) for rows in commits]
        pypaimon_tables.write_commits(Path(scratch).as_uri(), database, named, env={})
        _carry(hdfs, local, remote, _files(local) - before)


def _files(directory: Path) -> set[str]:
    found = {file.relative_to(directory).as_posix() for file in directory.rglob("*") if file.is_file()}
    return {name for name in found if not name.startswith(tuple(f"snapshot/{hint}" for hint in _HINTS))}


def _carry(hdfs: Hdfs, local: Path, remote: str, files: Iterable[str]) -> None:
    """Copies new files, each snapshot after all that it names, and the hint about the latest one at the end."""
    snapshots = sorted((each for each in files if each.startswith("snapshot/")), key=_number)
    rest = sorted(set(files) - set(snapshots))
    for directory in sorted({name.rpartition("/")[0] for name in rest}):
        names = [str(local / name) for name in rest if name.rpartition("/")[0] == directory]
        hdfs.shell("-mkdir", "-p", f"{remote}/{directory}", user=realm.USER)
        hdfs.shell("-put", *names, f"{remote}/{directory}", user=realm.USER)
    for name in snapshots:
        hdfs.shell("-put", str(local / name), f"{remote}/snapshot", user=realm.USER)
    hdfs.shell("-put", "-f", str(local / "snapshot" / "LATEST"), f"{remote}/snapshot", user=realm.USER)


def _number(name: str) -> int:
    return int(re.sub(r"\D", "", name))
