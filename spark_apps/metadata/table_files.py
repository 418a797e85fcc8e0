"""The schema files of a table: `<location>/schema/schema-<id>`, with ids from 0, one for each schema commit."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any, Final

from paimon_contract.job import Job, JobCatalog, JobTable
from paimon_schema.bucket_count import BUCKET
from paimon_schema.option_changes import OWNER_OPTION
from paimon_schema.table_schema import TableSchema, table_schema
from spark_apps.metadata.base import MetadataFiles, UnreadableError

SCHEMA_VERSION: Final = 3
"""Version of the schema files that both engines write: TableSchema.CURRENT_VERSION."""
MAX_PROBES: Final = 8
"""Schemas after a known one that are asked for one by one. Beyond them a listing is cheaper."""
_SCHEMA_FILE: Final = re.compile(r"schema-(0|[1-9][0-9]{0,17})")
_OLD_DEFAULTS: Final = {1: ("bucket", "1"), 2: ("file.format", "orc")}
"""Version -> the option that files up to this version mean where they do not set it: Paimon's SchemaSerializer."""


def location_of(job: Job) -> str:
    """Where the job's table must lie, with every metastore: a table that is registered elsewhere is a Conflict."""
    return place_of(job.catalog, job.table)


def place_of(catalog: JobCatalog, table: JobTable) -> str:
    """Where a table of this catalog lies."""
    return f"{catalog.warehouse.rstrip('/')}/{table.database}.db/{table.name}"


def is_as_verified(job: Job, schema: TableSchema) -> bool:
    """Whether the table has its owner's mark and its number of buckets; a JVM reports what is wrong otherwise."""
    counted = job.bucket_count is None or schema.options.get(BUCKET) == str(job.bucket_count)
    return counted and schema.options.get(OWNER_OPTION) == job.owner


@dataclass(frozen=True)
class TableFiles:
    """The schemas of the table at `location`, from its files alone: a metastore may list it elsewhere, or not at all.

    A TableSchema read here equals the one of the JVM, but for the option `path`, which Paimon adds when it opens a
    table. Each method raises UnreadableError where a JVM is needed, as for a file that a newer Paimon wrote.
    """

    files: MetadataFiles
    location: str

    def schema(self, id_: int) -> TableSchema | None:
        """The schema of this id, in one read; None: there is none."""
        path = f"{self.location}/schema/schema-{id_}"
        content = self.files.read(path)
        if content is None:
            return None
        try:
            schema = _parse(content)
        except (ValueError, RecursionError) as error:
            raise UnreadableError(f"{path}: {error}") from error
        if schema.id != id_:
            raise UnreadableError(f"{path} holds schema {schema.id}")
        return schema

    def latest_schema(self, from_id: int | None = None) -> TableSchema | None:
        """The schema that the table has now; None: there is no table.

        `from_id` is the id of a schema that it had. Without a change since, two files are asked for and nothing is
        listed. Otherwise, the directory of the schemas is listed and one file read.
        """
        found = None if from_id is None else self._latest_after(from_id)
        return found or self._latest_listed()

    def _latest_after(self, known: int) -> TableSchema | None:
        """None: a listing must show it. The table can have been replaced by one with fewer schemas."""
        found = None
        for id_ in range(known + 1, known + 1 + MAX_PROBES):
            newer = self.schema(id_)
            if newer is None:
                return found or self.schema(known)
            found = newer
        return None

    def _latest_listed(self) -> TableSchema | None:
        names = (_SCHEMA_FILE.fullmatch(name) for name in self.files.names(f"{self.location}/schema"))
        latest = max((int(found[1]) for found in names if found), default=None)
        return None if latest is None else self.schema(latest)


def _parse(content: bytes) -> TableSchema:
    """Raises ValueError or RecursionError for anything but a schema file of a known version."""
    document: Any = json.loads(content.decode())
    version = document.get("version", 1) if isinstance(document, dict) else None
    if not isinstance(version, int):
        raise ValueError("this is no schema file of Paimon")  # noqa: TRY004  (content, not a caller's mistake)
    if version > SCHEMA_VERSION:
        raise ValueError(f"version {version} of schema files is newer than {SCHEMA_VERSION}")
    schema = table_schema(document)
    defaults = {key: value for old, (key, value) in _OLD_DEFAULTS.items() if version <= old}
    return replace(schema, options={**defaults, **schema.options})
