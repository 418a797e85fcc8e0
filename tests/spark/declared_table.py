"""One table of a manifest, created and loaded by the real drivers, and the changes in its changelog.

pypaimon reads no changelog, so Spark's own reader of Parquet reads the changelog files as Paimon documents them:
`_VALUE_KIND` is 0 for +I, 1 for -U, 2 for +U and 3 for -D.
"""

from __future__ import annotations

import json
from typing import Any, Final

from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.validation.table import broken_rules
from paimon_operator.errors import SpecError
from tests.spark.lake import Lake
from tests.support import builders

KINDS: Final = ("+I", "-U", "+U", "-D")
ONE_BUCKET: Final = {"type": "Fixed", "fixed": {"count": 1}}
KEYED: Final[dict[str, Any]] = {
    "columns": [{"name": "id", "type": "BIGINT"}, {"name": "v", "type": "INT"}, {"name": "op", "type": "STRING"}],
    "primaryKeys": ["id"],
}


def context(lake: Lake, spec: dict[str, Any]) -> TableContext:
    return builders.context(builders.table(**spec), builders.catalog(engine=lake.engine.id))


def problems(lake: Lake, spec: dict[str, Any]) -> tuple[SpecError, ...]:
    return broken_rules(context(lake, spec))


def create(lake: Lake, **spec: Any) -> None:
    """Creates the table of a manifest that no rule refuses."""
    assert problems(lake, spec) == ()
    lake.provision_manifest(context(lake, spec)).ok()


def write(lake: Lake, rows: list[dict[str, Any]], *, keyed: bool | None = None) -> None:
    upserts = "op" in rows[0] if keyed is None else keyed
    lake.land(f"orders/{next(lake.numbers)}.json", "".join(json.dumps(row) + "\n" for row in rows))
    lake.write(mode="Upsert" if upserts else "Append", format="json").ok()


def changes_of(lake: Lake, rows: list[dict[str, Any]], *, compacts: bool = False) -> list[str]:
    """Writes rows, and compacts. Returns what the new changelog files hold."""
    before = set(lake.table_directory.glob("bucket-*/changelog-*"))
    write(lake, rows)
    if compacts:
        lake.compact().ok()
    new = set(lake.table_directory.glob("bucket-*/changelog-*")) - before
    found = [row for file in new for row in lake.select(f"SELECT _VALUE_KIND AS kind, id, v FROM parquet.`{file}`")]  # noqa: S608
    return [f"{KINDS[row['kind']]} {row['id']} {row['v']}" for row in found]
