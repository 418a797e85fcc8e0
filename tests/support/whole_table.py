"""A fabricated table with all its files on a volume, the names of Paimon's files, and orphans that are planted in it.

table = WholeTable(tmp_path)
table.write(3)
planted = table.plant()
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.support.fabricated_avro import DataFile, data_file, index_manifest_of, listed, manifest_list_of, manifest_of
from tests.support.fabricated_table import START_MS, FabricatedTable

OWNER: Final = "cluster/shop/orders"
UUID: Final = "0a1b2c3d-0000-4000-8000-{:012x}"
DAY_S: Final = 24 * 3600
_FIELDS: Final = [
    {"id": 0, "name": "day", "type": "STRING NOT NULL"},
    {"id": 1, "name": "id", "type": "BIGINT NOT NULL"},
]


def schema(options: Mapping[str, str] | None = None, id_: int = 0) -> dict[str, Any]:
    """A schema file of the table."""
    keys = {"partitionKeys": ["day"], "primaryKeys": ["day", "id"]}
    own = {"bucket": "4", "paimon-operator.owner": OWNER, **(options or {})}
    return {
        "version": 3, "id": id_, "fields": _FIELDS, "highestFieldId": 1, **keys, "options": own, "timeMillis": START_MS,
    }  # fmt: skip


@dataclass
class WholeTable(FabricatedTable):
    """The files of the table are five days old unless `age` is changed."""

    metadata_name: str = "{kind}-" + UUID.format(1) + "-{number}"
    age_s: int = 5 * DAY_S
    _numbers: Any = field(default_factory=lambda: itertools.count(1))

    def __post_init__(self) -> None:
        self.put_schema(self.root)

    def put_schema(self, root: Path, options: Mapping[str, str] | None = None, id_: int = 0) -> None:
        """Writes a schema file of the table or of a branch."""
        self.put(root / "schema" / f"schema-{id_}", json.dumps(schema(options, id_)).encode())

    def data_name(self, prefix: str = "data-", suffix: str = ".parquet") -> str:
        """The name of a new data file."""
        return f"{prefix}{UUID.format(next(self._numbers))}-0{suffix}"

    def write(self, count: int = 1, **members: Any) -> list[str]:
        """Commits that many data files with a file index each. Returns their names, and those of the indexes."""
        names = [self.data_name() for _ in range(count)]
        files = [data_file(name, extra=(f"{name}.index",)) for name in names]
        for each in files:
            self.put_data(each)
        self.commit(files, **members)
        return [name for each in files for name in (each.name, *each.extra)]

    def put_data(self, file: DataFile) -> None:
        """Writes a data file and what belongs to it."""
        for name in (file.name, *file.extra):
            self.put(self.root / f"day={file.day}" / f"bucket-{file.bucket}" / name, b"x" * file.size)

    def put(self, path: Path, content: bytes = b"content") -> Path:
        """Writes a file of the table's age."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self.grow_old(path)
        return path

    def grow_old(self, path: Path | None = None) -> None:
        """Gives a file, or all of the table, the table's age."""
        at = time.time() - self.age_s
        for each in [path] if path is not None else self.paths():
            os.utime(each, (at, at))

    def paths(self) -> list[Path]:
        """All files of the table."""
        return sorted(each for each in self.root.rglob("*") if each.is_file())

    def names(self) -> list[str]:
        """Their paths below the table's directory."""
        return [str(each.relative_to(self.root)) for each in self.paths()]

    def changelog_list(self, *names: str) -> str:
        """Writes changelog files with their manifest and list. Returns the list's name, for `commit`."""
        files = [data_file(name) for name in names]
        for each in files:
            self.put_data(each)
        entries = [(0, each) for each in files]
        content = manifest_of(entries, self.release)
        manifest = listed(self.put_metadata("manifest", content), content, entries)
        return self.put_metadata("manifest-list", manifest_list_of([manifest]))

    def index_manifest(self, vectors: str, hashes: str) -> str:
        """Writes index files with their index manifest. Returns its name, for `commit`."""
        for name in (vectors, hashes):
            self.put(self.root / "index" / name)
        return self.put_metadata("index-manifest", index_manifest_of({"x": 1}, self.release, names=(vectors, hashes)))

    def put_metadata(self, kind: str, content: bytes) -> str:
        """Writes a file in manifest/. Returns its name."""
        name = f"{kind}-{UUID.format(2)}-{next(self._numbers)}"
        self.put(self.root / "manifest" / name, content)
        return name

    def branch_with_schema(self, name: str, snapshot: int) -> Path:
        """Makes a branch and returns its directory."""
        self.branch(name, snapshot)
        root = self.root / "branch" / f"branch-{name}"
        self.put_schema(root)
        return root

    def keep_changelog(self, snapshot: int) -> Path:
        """Makes a long-lived changelog of a snapshot, as the expiry of the snapshot does. Returns its file."""
        target = self.root / "changelog" / f"changelog-{snapshot}"
        target.parent.mkdir(exist_ok=True)
        return Path(shutil.copy(self.snapshot_file(snapshot), target))

    def manifest_file(self, member: str, snapshot: int | None = None) -> Path:
        """The file in manifest/ that a member of a snapshot names."""
        document: Mapping[str, Any] = json.loads(self.snapshot_file(snapshot or self.latest).read_text())
        return self.root / "manifest" / str(document[member])

    def plant(self, each: int = 1) -> list[str]:
        """Plants so many orphans of each kind. Returns their paths below the table's directory."""
        planted = [self.put(self.root / path) for _ in range(each) for path in self._orphans()]
        return sorted(str(path.relative_to(self.root)) for path in planted)

    def _orphans(self) -> Iterable[str]:
        """One of each of the ten kinds of names."""

        def uuid() -> str:
            return UUID.format(0xFF0000 + next(self._numbers))

        bucket = "day=mon/bucket-0"
        yield f"{bucket}/data-{uuid()}-0.parquet"
        yield f"day=gone/bucket-3/data-{uuid()}-1.zstd.orc"
        yield f"{bucket}/data-{uuid()}-0.parquet.index"
        yield f"{bucket}/changelog-{uuid()}-0.parquet"
        yield f"manifest/manifest-{uuid()}-0"
        yield f"manifest/manifest-list-{uuid()}-0"
        yield f"manifest/index-manifest-{uuid()}-0"
        yield f"index/index-{uuid()}-0"
        yield f"statistics/stat-{uuid()}-0"
        yield f"snapshot/.snapshot-9.{uuid()}.tmp"


def files_in(directory: Path) -> Iterator[str]:
    """Paths of all files below a directory, sorted; none where it does not exist."""
    yield from sorted(str(each.relative_to(directory)) for each in directory.rglob("*") if each.is_file())
