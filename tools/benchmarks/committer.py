"""One writer of lost_commits: a JVM of its own that commits as often as requested, through Paimon's Java API.

Requests are JSON lines: {"job": path} makes the table of that Provision; with commits, rows, first and at it commits
instead: that many times so many rows, numbered from `first`, beginning at the time `at`. The answer contains the number
of commits that Paimon acknowledged.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from spark_apps.catalog.session import Session
from spark_apps.driver.dispatch import read_job
from spark_apps.driver.main import new_session
from tests.support.worker_channel import serve


def answer(request: dict[str, Any]) -> dict[str, Any]:
    session = new_session(read_job(Path(request["job"]).read_text(encoding="utf-8")))
    try:
        return _commit(session, request) if "commits" in request else _make(session)
    finally:
        session.close()


def _make(session: Session) -> dict[str, Any]:
    jvm, name = session.jvm, session.job.table
    columns = jvm.org.apache.paimon.schema.Schema.newBuilder()
    columns.column("id", jvm.org.apache.paimon.types.DataTypes.INT())
    columns.option("bucket", "-1")
    session.catalog.createDatabase(name.database, True)
    session.catalog.createTable(session.identifier, columns.build(), False)
    return {}


def _commit(session: Session, request: dict[str, Any]) -> dict[str, Any]:
    table, acknowledged, errors = session.find_table(), 0, []
    time.sleep(max(0.0, request["at"] - time.time()))  # both begin at once
    for number in range(request["commits"]):
        first = request["first"] + number * request["rows"]
        try:
            _append(session, table, range(first, first + request["rows"]))
            acknowledged += 1
        except Exception as error:  # noqa: BLE001  (the report contains it: an error is no silent loss)
            errors.append(str(error)[:300])
    return {"acknowledged": acknowledged, "errors": errors}


def _append(session: Session, table: Any, numbers: range) -> None:
    # py4j does not find a method that the table's class, which is not public, has from an interface.
    builder = session.jvm.org.apache.paimon.table.sink.BatchWriteBuilderImpl(table)
    write, commit = builder.newWrite(), builder.newCommit()
    try:
        for number in numbers:
            row = session.jvm.org.apache.paimon.data.GenericRow(1)
            row.setField(0, number)
            write.write(row)
        commit.commit(write.prepareCommit())
    finally:
        write.close()
        commit.close()


if __name__ == "__main__":
    serve(answer)
