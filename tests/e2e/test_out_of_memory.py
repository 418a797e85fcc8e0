"""A driver that runs out of memory: the next attempt gets more memory and loads the rows once."""

from __future__ import annotations

import pytest

from tests.e2e.lab import Lab, committed, once

pytestmark = pytest.mark.long
LONG = 80_000_000
"""Characters of one value, of which a writer holds many copies: too many for the heap that a driver of 1536Mi has."""
GROWN = ["1536Mi", "2304Mi", "3456Mi", "5184Mi"]


def test_the_attempt_after_an_out_of_memory_failure_gets_more_memory(lab: Lab) -> None:
    body = b"id,v\n1,short\n2," + b"x" * LONG + b"\n"
    lab.s3.put_object(Bucket="landing", Key=f"{lab.namespace}/in/long.csv", Body=body)
    write = once("import", "in/long.csv", mode="Append", file_format="csv")
    lab.kubectl.apply(lab.table("t", {"id": "BIGINT", "v": "STRING"}, writes=[write]))

    lab.kubectl.until("paimontable", "t", lambda o: bool(committed(o)), what="loaded", seconds=900)

    (run,) = lab.runs("t", "Write")
    *failed, last = run["status"]["attempts"]
    assert (failed[0]["failureClass"], failed[0]["exitCode"]) == ("OutOfMemory", 3)
    assert {each["failureClass"] for each in failed} == {"OutOfMemory"}
    assert [each["memory"] for each in (*failed, last)] == GROWN[: len(failed) + 1]
    assert [(row["id"], len(row["v"])) for row in lab.rows("t")] == [(1, len("short")), (2, LONG)]
