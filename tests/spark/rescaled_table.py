"""A table with a primary key and partitions, and what a run of type Rescale reports of it."""

from __future__ import annotations

from tests.spark.lake import Ended, Lake

COLUMNS = {"day": "STRING", "id": "BIGINT", "v": "STRING"}
DAYS = ("mon", "tue", "wed")


def load(lake: Lake, name: str, rows: list[tuple[str, int, str]]) -> Ended:
    """Writes the rows from a file of this name."""
    lines = "".join(f"{day},{id_},{value}\n" for day, id_, value in rows)
    lake.land(f"orders/{name}.csv", f"day,id,v\n{lines}")
    return lake.write()


def partitioned(lake: Lake, count: int = 2, keys: int = 30) -> list[tuple[str, int, str]]:
    """Creates and loads the table, with late upserts of some keys. Returns its rows."""
    lake.provision(COLUMNS, keys=["day", "id"], partitions=["day"], options={"bucket": str(count)}).ok()
    first = [(day, id_, "first") for day in DAYS for id_ in range(keys)]
    late = [(day, id_, "late") for day in DAYS for id_ in range(0, keys, 3)]
    load(lake, "1", first).ok()
    load(lake, "2", late).ok()
    return sorted((set(first) - {(day, id_, "first") for day, id_, _ in late}) | set(late))


def rows_of(lake: Lake) -> list[tuple[str, int, str]]:
    return sorted((row["day"], row["id"], row["v"]) for row in lake.rows())


def progress(ended: Ended) -> tuple[int, int, bool]:
    """Partitions that are rescaled, and all; whether the rescale is complete."""
    found = ended.ok()["rescale"]
    return found["done"], found["total"], found["finished"]
