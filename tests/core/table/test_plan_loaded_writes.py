"""Writes that runs of another PaimonTable have loaded keep their ledgers, and get no run if they are of type Once."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.api.base import Json
from paimon_operator.core.launch.job import build_job
from paimon_operator.core.operations.write_ledgers import write_hash
from tests.support import builders
from tests.support.table_world import TableWorld

ONCE = builders.write("seed", schedule=None)
MORE = builders.write("more", schedule=None, path="more/")


def world(*writes: Json) -> TableWorld:
    """A table whose first run is active."""
    seen = TableWorld(table=builders.table(writes=list(writes)))
    seen.settle()
    return seen


def asked(seen: TableWorld) -> list[tuple[str, str]]:
    """Name and ledger of the writes that the active Provision looks for."""
    assert seen.catalog is not None
    parameters: Any = build_job(seen.active, seen.table, seen.catalog, seen.operator).parameters
    return [(each.name, each.ledger.rstrip("/").rpartition("/")[2]) for each in parameters.unknown_writes or ()]


def hashes(seen: TableWorld) -> dict[str, str]:
    return {each.name: write_hash(each) for each in seen.table.spec.writes}


def found(seen: TableWorld, *names: str) -> list[Json]:
    """What a Provision reports that found these writes in the ledgers."""
    return [{"name": name, "hash": hashes(seen)[name], "done": True} for name in names]


def ledgers(seen: TableWorld) -> dict[str, str]:
    """The directory of each write's list of loaded files."""
    return {each.name: each.ledger or each.name for each in seen.table.status.writes}


@pytest.mark.parametrize(
    ("sentence", "loaded", "runs"),
    [
        ("a new table", [], [("Write", "seed"), ("Write", "more")]),
        ("one of two is loaded", ["seed"], [("Write", "more")]),
        ("both are loaded", ["seed", "more"], []),
    ],
)
def test_only_what_is_not_loaded_runs(sentence: str, loaded: list[str], runs: list[tuple[str, str]]) -> None:
    seen = world(ONCE, MORE)
    assert asked(seen) == [("seed", "seed"), ("more", "more")]
    seen.finish("Provision", created=False, loaded=found(seen, *loaded))
    assert seen.run_due() == runs, sentence


def test_the_status_says_why_nothing_runs() -> None:
    seen = world(ONCE)
    name = seen.active.metadata.name
    seen.finish("Provision", created=False, loaded=found(seen, "seed"))
    seen.settle()
    (state,) = seen.table.status.writes
    assert state.pending_since is None
    assert state.decision is not None
    assert state.decision.message.startswith(f"run {name}: the table's list of loaded files has this write")


def test_an_edit_of_the_write_during_the_run_loads_the_edited_one() -> None:
    seen = world(ONCE)
    before = found(seen, "seed")
    seen.edit(writes=[builders.write("seed", schedule=None, path="other/")])
    seen.finish("Provision", created=False, loaded=before)
    assert seen.run_due() == [("Write", "seed")]


def test_a_write_that_is_removed_during_the_run_is_not_remembered() -> None:
    seen = world(ONCE)
    before = found(seen, "seed")
    seen.edit(writes=[])
    seen.settle()
    seen.finish("Provision", created=False, loaded=before)
    assert seen.run_due() == []
    assert seen.table.status.writes == ()


def test_a_run_looks_for_no_write_that_has_had_a_run() -> None:
    seen = world(ONCE, builders.write("hourly"))
    assert asked(seen) == [("seed", "seed"), ("hourly", "hourly")]
    seen.finish("Provision", created=True)
    seen.run_due()
    seen.edit(options={"read.batch-size": "2048"})
    seen.settle()
    assert asked(seen) == []


@pytest.mark.parametrize(
    ("sentence", "reported", "expected"),
    [
        ("a write was renamed", {"b": "first"}, {"a": "a", "b": "first"}),
        ("a new write has the former name of a renamed one", {"b": "a"}, {"a": "a_2", "b": "a"}),
        ("two writes have swapped their names", {"a": "b", "b": "a"}, {"a": "b", "b": "a"}),
        ("one ledger is reported twice", {"a": "x", "b": "x"}, {"a": "x", "b": "b"}),
    ],
)
def test_a_renamed_write_goes_on_with_the_ledger_that_was_found(
    sentence: str, reported: dict[str, str], expected: dict[str, str]
) -> None:
    seen = world(builders.write("a"), builders.write("b", path="b/"))
    loaded = [{"name": name, "hash": hashes(seen)[name], "ledger": ledger} for name, ledger in reported.items()]
    seen.finish("Provision", created=False, loaded=loaded)
    seen.settle()
    assert ledgers(seen) == expected, sentence


def test_no_write_gets_the_ledger_of_one_that_has_had_a_run() -> None:
    seen = world(ONCE)
    seen.finish("Provision", created=True)
    assert seen.run_due() == [("Write", "seed")]
    seen.edit(writes=[ONCE, builders.write("copy", schedule=None)], options={"read.batch-size": "2048"})
    seen.settle()
    assert asked(seen) == [("copy", "copy")]
    seen.finish("Provision", created=False, loaded=[{**found(seen, "copy")[0], "ledger": "seed"}])
    assert seen.run_due() == [("Write", "copy")], "what another write has loaded says nothing about this one"
    assert ledgers(seen) == {"seed": "seed", "copy": "copy"}
