"""What is taken from a page of docs: what readers write into files, what they run, and what a test replaces."""

from __future__ import annotations

import pytest

from tests.support.docs_commands import blocks_below, blocks_of, commands_of, replaced, steps_of

S3 = "docs/tutorial-s3.md"


def test_the_steps_of_a_page_are_its_named_files_and_all_of_its_commands() -> None:
    steps = steps_of(S3, {"database: shop": "database: another"})
    assert steps.files.keys() == {"catalog.yaml", "orders.yaml"}
    assert "database: another\n" in steps.files["orders.yaml"]
    found = [steps.commands.index(f"kubectl apply -f {name}") for name in steps.files]
    assert found == sorted(found), "in the order of the page"


def test_the_steps_of_a_section_are_those_below_its_heading() -> None:
    steps = steps_of(S3, {}, heading="## 1. The catalog")
    assert steps.files.keys() == {"catalog.yaml"}
    assert "orders.yaml" not in steps.commands


def test_a_block_in_a_list_is_taken_without_its_indentation() -> None:
    first, *_ = blocks_below("docs/howto-recover.md", "## Go back to a snapshot", "console")
    assert first.startswith("kubectl ")


def test_the_blocks_of_a_page_are_those_below_all_of_its_headings() -> None:
    page = "docs/howto-recover.md"
    below = blocks_below(page, "## Go back to a snapshot", "console")
    assert set(below) < set(blocks_of(page, "console"))
    with pytest.raises(ValueError, match="has no block of fortran"):
        blocks_of(page, "fortran")


def test_text_that_a_page_does_not_have_cannot_be_replaced() -> None:
    assert replaced("a b a", {"a": "c"}) == "c b c"
    with pytest.raises(ValueError, match=r"not there: \['x'\]"):
        replaced("a b", {"a": "c", "x": "y"})
    with pytest.raises(ValueError, match=r"https://s3\.another\.example"):
        steps_of(S3, {"https://s3.another.example": "here"})


def test_a_heading_that_a_page_does_not_have_is_an_error() -> None:
    with pytest.raises(ValueError, match="has no heading"):
        steps_of(S3, {}, heading="## 9. Nothing")
    with pytest.raises(ValueError, match="has no block of commands"):
        commands_of(S3, "## 9. Nothing")
