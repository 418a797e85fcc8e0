"""Creates the table of a manifest in real Paimon, whatever the operator's rules say of it, and checks what it keeps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from paimon_operator.api.table.spec import BucketType, MergeEngineType, PaimonTableSpec
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.validation.columns import column_types
from paimon_operator.core.validation.merging import engine_type
from paimon_schema.type_parser import TypeTextError
from tests.spark.lake import Ended, Lake, RefusedBySparkError
from tests.spark.manifest_rows import Batches, differences
from tests.spark.manifest_values import Row

_READ_BY_PYPAIMON: Final = (MergeEngineType.DEDUPLICATE, MergeEngineType.FIRST_ROW)


def tried(lake: Lake, number: int, context: TableContext) -> list[str]:
    """What is wrong with the table after it was created, loaded twice and compacted. Empty: nothing."""
    directory = lake.directory / f"manifest-{number}"
    directory.mkdir()
    found: list[str] = []
    try:
        found.extend(_Trial(replace(lake, directory=directory), context).problems())
    except RefusedBySparkError as error:
        found.append(f"Spark cannot read the table: {error}")
    return found


@dataclass(frozen=True)
class _Trial:
    lake: Lake
    context: TableContext

    @property
    def spec(self) -> PaimonTableSpec:
        return self.context.spec

    def problems(self) -> Iterator[str]:
        try:
            ended = self._loaded(self.lake.provision_manifest(self.context))
        except TypeTextError as error:
            yield f"no such type: {error}"
            return
        if (failed := _failure(ended)) is not None:
            yield failed
            return
        batches = Batches(self.spec)
        if self._is_visible_at_once():
            yield from self._differences(batches, "written")
        if (failed := _failure(self.lake.compact())) is not None:
            yield failed
            return
        yield from self._differences(batches, "compacted")

    def _loaded(self, ended: Ended) -> Ended:
        """The first step that fails after the creation, or the last one."""
        for batch in (1, 2):
            if ended.code == 0:
                ended = self._write(batch)
        return ended

    def _write(self, batch: int) -> Ended:
        rows = Batches(self.spec).rows(batch)
        self.lake.land(f"orders/{batch}.json", "".join(json.dumps(row) + "\n" for row in rows))
        return self.lake.write(mode="Upsert" if self.spec.table_schema.primary_keys else "Append", format="json")

    def _is_visible_at_once(self) -> bool:
        """Whether a reader sees rows that are not compacted yet."""
        vectors, bucket = self.spec.deletion_vectors, self.spec.bucket
        postponed = bucket is not None and bucket.type is BucketType.POSTPONE
        compacts = engine_type(self.spec) is MergeEngineType.FIRST_ROW or (vectors is not None and vectors.enabled)
        return not compacts and not postponed

    def _differences(self, batches: Batches, when: str) -> Iterator[str]:
        rows = [batches.normal(row) for row in self.lake.select("SELECT * FROM outside.shop.orders")]
        yield from (f"{when}: {each}" for each in self._compared(batches, rows))
        if self._pypaimon_reads():
            read = [batches.normal(row, hexadecimal=True) for row in self.lake.rows()]
            if _sorted(read) != _sorted(rows):
                yield f"{when}: pypaimon reads {read}, Spark {rows}"

    def _compared(self, batches: Batches, rows: list[Row]) -> Iterator[str]:
        keys = self.spec.table_schema.primary_keys
        known = [row for row in rows if tuple(row[key] for key in keys) not in batches.unknown_keys()]
        yield from differences(batches.expected(), known)

    def _pypaimon_reads(self) -> bool:
        """pypaimon 2.1.0 reads manifests in Avro only, merges as these engines do, and orders plain values."""
        avro = self.spec.options.get("manifest.format", "avro").lower() == "avro"
        known, sequence = column_types(self.spec), self.spec.sequence
        plain = all(not known[name].is_nested for name in (sequence.fields if sequence else ()))
        return avro and plain and engine_type(self.spec) in _READ_BY_PYPAIMON


def _failure(ended: Ended) -> str | None:
    return None if ended.code == 0 else f"{ended.result.get('operation')}: {ended.error.get('message', ended.result)}"


def _sorted(rows: list[Row]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows)
