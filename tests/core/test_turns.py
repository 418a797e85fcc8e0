"""Turns of namespaces: which of the waiting items is next."""

from __future__ import annotations

import pytest

from paimon_operator.core.turns import Turns


def waiting(*items: str) -> Turns[str]:
    """Items such as `a1`, whose namespace is the first letter."""
    turns: Turns[str] = Turns()
    for item in items:
        turns.add(item[0], item)
    return turns


def rest(turns: Turns[str]) -> list[str]:
    """All items in the order in which they are next."""
    items = []
    while turns:
        items.append(turns.pop())
    return items


ORDERS = [
    ("one namespace", ("a1", "a2", "a3"), ["a1", "a2", "a3"]),
    ("one item each", ("c1", "a1", "b1"), ["c1", "a1", "b1"]),
    ("a backlog before the items of others", ("a1", "a2", "a3", "b1", "c1"), ["a1", "b1", "c1", "a2", "a3"]),
    ("two backlogs", ("a1", "a2", "a3", "b1", "b2"), ["a1", "b1", "a2", "b2", "a3"]),
]


@pytest.mark.parametrize(("items", "order"), [case[1:] for case in ORDERS], ids=[case[0] for case in ORDERS])
def test_namespaces_take_turns_and_the_items_of_each_keep_their_order(items: tuple[str, ...], order: list[str]) -> None:
    assert rest(waiting(*items)) == order


IN_USE = [
    ("none", "", "a1"),
    ("an item of the namespace whose turn it is", "a", "b1"),
    ("as many items of each", "abcabc", "a1"),
    ("fewer items of one", "aabbc", "c1"),
    ("items of a namespace that does not wait", "xxx", "a1"),
]


@pytest.mark.parametrize(("in_use", "item"), [case[1:] for case in IN_USE], ids=[case[0] for case in IN_USE])
def test_the_namespace_with_the_fewest_items_in_use_is_next(in_use: str, item: str) -> None:
    assert waiting("a1", "a2", "b1", "c1").pop(in_use) == item


def test_a_namespace_that_returns_has_the_last_turn() -> None:
    turns = waiting("a1", "b1", "b2", "c1")
    assert turns.pop() == "a1"
    turns.add("a", "a2")
    assert rest(turns) == ["b1", "c1", "a2", "b2"]


def test_a_removed_item_is_never_next_and_its_namespace_keeps_its_turn() -> None:
    turns = waiting("a1", "a2", "a3", "b1")
    turns.remove("a", "a1")
    assert rest(turns) == ["a2", "b1", "a3"]


def test_a_namespace_whose_last_item_is_removed_is_forgotten() -> None:
    turns = waiting("a1", "b1")
    turns.remove("a", "a1")
    assert rest(turns) == ["b1"]
