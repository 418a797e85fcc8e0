"""Random histories: a look after some changes ends with exactly what a full read shows, and with what was committed."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spark_apps.metadata.file_sums import BucketLevel, FileSums
from spark_apps.metadata.observation import Observer
from spark_apps.metadata.volume import VolumeFiles
from tests.support.fabricated_avro import DataFile, binary_row
from tests.support.fabricated_table import FabricatedTable, schema_of
from tests.support.random_examples import examples

SMALL_BELOW = 70

FILES: st.SearchStrategy[dict[str, Any]] = st.builds(
    dict,
    day=st.sampled_from(["mon", "a much longer day", None]),
    bucket=st.integers(-2, 2),
    level=st.integers(0, 2),
    size=st.integers(1, 140),
    rows=st.integers(0, 50),
    delete_rows=st.sampled_from([0, 0, 3, None]),
)
COMMIT = st.tuples(
    st.just("commit"),
    st.lists(FILES, max_size=3),
    st.lists(st.integers(0, 9), max_size=2),
    st.booleans(),
    st.sampled_from([None, None, {}, {"x": 4}]),
)
STEPS = st.one_of(
    COMMIT,
    COMMIT,
    COMMIT,
    st.tuples(st.just("roll back"), st.integers(0, 3)),
    st.tuples(st.just("expire"), st.integers(0, 3)),
    st.tuples(st.just("look")),
)


def expected(table: FabricatedTable) -> dict[BucketLevel, FileSums]:
    """The sums of the files that the table has, from the files themselves."""
    groups: defaultdict[BucketLevel, list[DataFile]] = defaultdict(list)
    for each in table.live.values():
        groups[binary_row(each.day), each.bucket, each.level].append(each)
    return {
        key: FileSums(
            files=len(files),
            bytes=sum(each.size for each in files),
            rows=sum(each.rows for each in files),
            small_files=sum(each.size < SMALL_BELOW for each in files),
            delete_rows=sum(each.delete_rows or 0 for each in files),
            uncounted_files=sum(each.delete_rows is None for each in files),
        )
        for key, files in groups.items()
    }


def perform(table: FabricatedTable, number: int, step: Any) -> None:
    if step[0] == "commit":
        _, adds, removes, merge, deleted = step
        names = sorted(table.live)
        removed = {names[index % len(names)] for index in removes} if names else set()
        added = [DataFile(name=f"f{number}-{n}", **fields) for n, fields in enumerate(adds)]
        table.commit(added, removed, merge=merge, deleted=deleted)
    elif step[0] == "roll back":
        table.roll_back(max(table.earliest, table.latest - step[1]))
    elif step[0] == "expire":
        table.expire(max(table.earliest, table.latest - step[1]))


@pytest.mark.worlds
@settings(max_examples=examples(40, most=500), deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=25))
def test_looks_at_any_moment_of_a_history_show_what_a_full_read_shows(steps: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        table = FabricatedTable(Path(directory))
        table.commit([DataFile(name="f")])
        observer = Observer(VolumeFiles(), table.location, schema_of())
        observed = None
        for number, step in enumerate([*steps, ("look",)]):
            perform(table, number, step)
            if step[0] == "look":
                observed = observer.observe(observed)
        full = observer.observe().contents
        assert observed is not None
        assert observed.contents is not None
        assert full is not None
        assert full.sums == expected(table)
        assert (full.snapshot.id, full.deleted_rows) == (table.latest, sum(v or 0 for v in table.deleted.values()))
        # An expiry that no commit follows is found later.
        assert replace(observed.contents, earliest=full.earliest) == full
