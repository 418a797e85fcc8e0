"""The selection of engines for a test."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from types import SimpleNamespace
from typing import cast

import pytest

from tests.cluster.cache import CHECKOUT
from tests.support.engine_coverage import untested
from tests.support.engine_matrix import (
    IN_TURN,
    NO_ENGINE,
    SOME_ROWS,
    engines_for,
    evenly,
    newest_engine,
    pairs,
    remove_older_engines,
    remove_repeated_engines,
    remove_rows,
)
from tests.support.time_limit import MARKER as LONG

BOTH = ["paimon-0.9", "paimon-1.4"]


@pytest.mark.parametrize(
    ("ready", "metastore", "newest_only", "engines"),
    [
        (BOTH, "Filesystem", False, BOTH),
        (BOTH, "Filesystem", True, ["paimon-1.4"]),
        (BOTH, "Jdbc", False, ["paimon-1.4"]),
        (["paimon-0.9"], "Hive", True, ["paimon-0.9"]),
        (["paimon-0.9"], "Jdbc", True, [NO_ENGINE]),
    ],
)
def test_a_test_marked_newest_engine_runs_on_the_newest_engine_that_supports_the_metastore(
    ready: list[str], metastore: str, newest_only: bool, engines: list[str]
) -> None:
    assert engines_for(ready, metastore, newest_only=newest_only) == engines


@pytest.mark.parametrize(("ready", "engines"), [(BOTH, ["paimon-1.4"]), (["paimon-0.9"], [NO_ENGINE])])
def test_a_test_of_two_engines_runs_on_those_that_have_an_older_one_beside(
    ready: list[str], engines: list[str]
) -> None:
    assert engines_for(ready, "Filesystem", newest_only=False, needs_older=True) == engines


@pytest.mark.parametrize(("ready", "engines"), [(BOTH, ["paimon-1.4"]), (["paimon-0.9"], [NO_ENGINE])])
def test_a_test_of_a_capability_runs_on_the_engines_that_have_it(ready: list[str], engines: list[str]) -> None:
    capability = "has_incremental_clustering"
    assert engines_for(ready, "Filesystem", newest_only=False, capability=capability) == engines


@pytest.mark.parametrize(
    ("kinds", "engines", "kept"),
    [
        (["simple", "kerberos"], ["0.9", "1.4"], [("simple", "0.9"), ("kerberos", "1.4")]),
        (["simple", "kerberos"], ["0.9"], [("simple", "0.9"), ("kerberos", "0.9")]),
        (["kerberos"], ["0.9", "1.4"], [("kerberos", "0.9"), ("kerberos", "1.4")]),
        (["a", "b"], ["0", "1", "2"], [("a", "0"), ("b", "1"), ("a", "2")]),
    ],
)
def test_pairs_hold_each_kind_and_each_engine(
    kinds: list[str], engines: list[str], kept: list[tuple[str, str]]
) -> None:
    assert pairs(kinds, engines) == kept


def test_only_repeated_combinations_of_one_test_are_removed() -> None:
    kinds = ("simple", "kerberos")
    both = [item("t.py::lives", in_turn="kind", kind=kind, engine=engine) for kind in kinds for engine in ("0", "1")]
    others = [item("t.py::all", kind=kind, engine=engine) for kind in kinds for engine in ("0", "1")]
    others += [item("t.py::one", in_turn="kind", kind="kerberos", engine="1"), item("t.py::none")]
    items = [*both, *others]

    remove_repeated_engines(items, "engine")

    assert items == [both[0], both[3], *others]


def test_the_first_test_of_a_module_keeps_all_engines_and_the_others_keep_the_newest() -> None:
    of_modules = [
        item(f"{module}::test_{number}", kind=kind, engine=engine)
        for module in ("a.py", "b.py")
        for number in range(2)
        for kind in ("x", "y")
        for engine in ("0", "1")
    ]
    others = [item("a.py::test_newest", engine="1"), item("a.py::test_oldest", engine="0"), item("a.py::test_none")]
    items = [*of_modules, *others]

    remove_older_engines(items, "engine")

    for module in ("a.py", "b.py"):
        kept = {each.nodeid for each in items if each.nodeid.startswith(module) and each not in others}
        assert kept == {f"{module}::test_{test}]" for test in ("0[x-0", "0[x-1", "0[y-1", "1[x-1", "1[y-1")}
    assert items[-3:] == others


def test_a_test_that_is_long_does_not_count_as_the_first_one_of_its_module() -> None:
    long = [item("t.py::long", long=True, engine=engine) for engine in ("0", "1")]
    others = [item(f"t.py::test_{number}", engine=engine) for number in range(2) for engine in ("0", "1")]
    items = [*long, *others]

    remove_older_engines(items, "engine")

    assert items == [long[1], *others[:2], others[3]]


def test_of_a_test_with_many_rows_so_many_are_kept_as_its_marker_says_with_all_engines() -> None:
    many = [item("t.py::many", rows=2, kind=str(kind), engine=engine) for kind in range(5) for engine in ("0", "1")]
    others = [item("t.py::all", kind=str(kind), engine="1") for kind in range(5)]
    items = [*many, *others]

    remove_rows(items, "engine")

    assert items == [*many[2:4], *many[8:], *others]


@pytest.mark.parametrize(("number", "kept"), [(1, "e"), (2, "be"), (3, "ace"), (4, "abce"), (5, "abcde"), (6, "abcde")])
def test_kept_rows_are_evenly_spread_and_have_the_last_one_among_them(number: int, kept: str) -> None:
    assert "".join(evenly("abcde", number)) == kept


def item(test: str, *, in_turn: str = "", rows: int = 0, long: bool = False, **parameters: str) -> pytest.Item:
    """A collected test, as far as the selection reads it; `in_turn` and `rows` are the parameters of its markers."""
    name = f"{test}[{'-'.join(parameters.values())}]" if parameters else test
    of_markers: dict[str, str | int] = {IN_TURN: in_turn, SOME_ROWS: rows, LONG: long}
    markers = {name: SimpleNamespace(args=(value,)) for name, value in of_markers.items() if value}
    callspec = SimpleNamespace(params=parameters)
    return cast("pytest.Item", SimpleNamespace(nodeid=name, callspec=callspec, get_closest_marker=markers.get))


COLLECT = """
import sys
from pathlib import Path
import pytest
from tests.cluster import release
from tools.engines import fetch

ready = sys.argv[1].split(",")
fetch.fetch = lambda engine: fetch.Availability(engine, Path() if engine.id in ready else None, "left out")
release.engines = lambda: ready
sys.exit(pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", "-m", "not long", *sys.argv[2:]]))
"""


SUITES = ("tests/apiserver", "tests/spark", "tests/e2e")


@cache
def collected(engines: str, *paths: str) -> str:
    """What pytest lists of `make test` below these paths where a machine holds these engines (joined by commas)."""
    command = [sys.executable, "-c", COLLECT, engines, *paths]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.OK, done.stdout
    return done.stdout


def test_a_clone_without_the_newest_engine_collects_all_but_the_tests_of_what_it_alone_has() -> None:
    found = collected("paimon-0.9", *SUITES)

    assert "tests/e2e/test_happy_path.py::" in found
    assert "tests/spark/test_hive_metastore.py::" in found
    assert "test_jdbc_metastore" not in found
    assert "test_sort_compaction" not in found
    assert "paimon-1.4]" not in found
    assert NO_ENGINE not in found


def ids(text: str) -> set[str]:
    return {line for line in text.splitlines() if ".py::" in line}


def test_make_test_runs_each_module_whose_results_differ_by_engine_with_each_engine() -> None:
    parts = [each.partition(".py::") for each in ids(collected(",".join(BOTH), *SUITES))]

    assert untested([(file.replace("/", "."), test) for file, _, test in parts], BOTH) == []


def test_the_choice_of_a_module_does_not_depend_on_the_modules_beside_it() -> None:
    modules = [f"tests/spark/test_{name}.py" for name in ("key_types", "orphan_files", "rescale_interrupted")]

    found = {each for each in ids(collected(",".join(BOTH), *SUITES)) if each.startswith(tuple(modules))}
    assert found == ids(collected(",".join(BOTH), *modules))


@pytest.mark.parametrize(("used", "newest"), [(BOTH[::-1], "paimon-1.4"), (["paimon-0.9"], "paimon-0.9")])
def test_the_newest_engine_of_a_session_is_that_of_its_tests(used: list[str], newest: str) -> None:
    tests = [SimpleNamespace(callspec=SimpleNamespace(params={"engine_id": each})) for each in used]
    assert newest_engine(cast("list[pytest.Item]", [*tests, SimpleNamespace()])) == newest
