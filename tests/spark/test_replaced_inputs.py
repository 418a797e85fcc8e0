"""A file that is replaced while it is read must not go into the ledger as the one that was listed."""

from __future__ import annotations

import pytest

from spark_apps.failures import RunError
from spark_apps.files import InputFile, read_unchanged

OLD, NEW, OTHER = (InputFile("orders/1.csv", 10, v) for v in ("old", "new", "other"))
LATER = InputFile("orders/2.csv", 10, "x")


def read_through(*listings: list[InputFile]) -> tuple[list[InputFile], list[InputFile] | None]:
    """What is loaded when one listing after the other is what a look finds."""
    looks = iter(listings)
    return read_unchanged(lambda: next(looks), lambda found: found, list)


def test_the_second_look_finds_the_same_and_the_files_are_loaded() -> None:
    assert read_through([OLD], [OLD]) == ([OLD], [OLD])


def test_a_replaced_file_is_read_anew() -> None:
    assert read_through([OLD], [NEW], [NEW]) == ([NEW], [NEW])


def test_a_file_that_vanished_is_not_loaded() -> None:
    assert read_through([OLD, LATER], [LATER], [LATER]) == ([LATER], [LATER])


def test_a_file_that_came_along_waits_for_the_next_run() -> None:
    assert read_through([OLD], [OLD, LATER]) == ([OLD], [OLD])


def test_nothing_left_is_nothing_to_load() -> None:
    assert read_through([OLD], []) == ([], None)


def test_a_file_that_never_rests_is_told_by_its_name() -> None:
    with pytest.raises(RunError, match=r"orders/1\.csv"):
        read_through([OLD], [NEW], [OTHER], [OLD])
