"""The run whose classes go into the image's class-data archive: every operation once, on a table in a scratch folder.

Started by `entrypoint.sh train`, so with the class path that runs have. A failing operation fails the training, since
an archive without its classes would be slow without a word.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from paimon_engines.engine import Engine
from paimon_engines.loader import supported_engines
from spark_apps.driver.dispatch import read_job
from spark_apps.driver.main import perform

ITEM = [{"id": 0, "name": "sku", "type": "STRING"}, {"id": 1, "name": "n", "type": "INT"}]
COLUMNS = {
    "id": "BIGINT",
    "amount": "DECIMAL(12,2)",
    "at": "TIMESTAMP(6)",
    "items": {"type": "ARRAY", "element": {"type": "ROW", "fields": ITEM}},
}
"""Types in Paimon's JSON form."""


def jobs(engine: Engine, scratch: Path) -> list[dict[str, Any]]:
    """The jobs of a training run, in order."""
    warehouse, landing = (scratch / "warehouse").as_uri(), scratch / "landing"
    landing.mkdir()
    (landing / "a.csv").write_text("id,amount\n1,2.50\n2,\n", encoding="utf-8")
    (landing / "b.json").write_text('{"id":3,"items":[{"sku":"x","n":1}]}\n', encoding="utf-8")
    members: list[tuple[str, str, dict[str, Any]]] = [("Provision", "provision", _provision())] * 2
    members += [("Write", "write", _write(file, landing, warehouse)) for file in ("a.csv", "b.json")]
    members += [
        ("Compact", "compact", {"strategy": "Full"}),
        ("ExpireSnapshots", "expireSnapshots", {"numRetainedMin": 1, "numRetainedMax": 1}),
        ("Drop", "drop", {}),
    ]
    same = {
        "version": 1,
        "engine": engine.id,
        "catalog": {"warehouse": warehouse, "metastore": "filesystem"},
        "table": {"database": "train", "name": "t"},
        "owner": "training",
    }
    return [same | _run(number, operation) | {member: body} for number, (operation, member, body) in enumerate(members)]


def _run(number: int, operation: str) -> dict[str, Any]:
    name = f"train-{number}"
    return {
        "run": {"name": name, "uid": "0", "namespace": "train"},
        "operation": operation,
        "commitUser": f"{name}-0",
    }


def _provision() -> dict[str, Any]:
    return {
        "columns": [{"name": name, "type": str(form), "dataType": form} for name, form in COLUMNS.items()],
        "primaryKeys": ["id"],
        "options": {"bucket": "1", "write-only": "true"},
        "adoption": "AdoptIfIdentical",
    }


def _write(file: str, landing: Path, warehouse: str) -> dict[str, Any]:
    return {
        "name": "import",
        "hash": "0",
        "mode": "Upsert",
        "format": file.partition(".")[2],
        "location": landing.as_uri(),
        "path": file,
        "select": "New",
        "once": False,
        "ledger": f"{warehouse}/.paimon-operator/train.t/import/",
    }


def main() -> int:
    """Runs the jobs for the engine whose connector is on the class path; returns the last exit code."""
    from pyspark import SparkContext  # noqa: PLC0415

    SparkContext._ensure_initialized()
    jvm: Any = SparkContext._jvm
    class_path = jvm.java.lang.System.getProperty("java.class.path")
    engine = next(each for each in supported_engines().values() if each.jars[0].file_name in class_path)
    with tempfile.TemporaryDirectory() as scratch:
        for document in jobs(engine, Path(scratch)):
            result, code = perform(read_job(json.dumps(document)))
            sys.stdout.write(json.dumps(result) + "\n")
            if code:
                return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
