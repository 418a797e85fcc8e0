"""Turns of namespaces: no namespace waits behind the backlog of another one."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

ItemT = TypeVar("ItemT", bound=Hashable)


class Turns(Generic[ItemT]):
    """Waiting items. Namespaces take turns; within a namespace, the item that was added first is next.

    While a namespace waits and none of its items is in use, each other namespace gets at most one item before it.
    """

    def __init__(self) -> None:
        self._items: dict[str, OrderedDict[ItemT, None]] = {}
        """In the order of the turns. A namespace without items is absent; when it returns, its turn is the last."""

    def __bool__(self) -> bool:
        return bool(self._items)

    def add(self, namespace: str, item: ItemT) -> None:
        """Adds an item that does not wait yet."""
        self._items.setdefault(namespace, OrderedDict())[item] = None

    def remove(self, namespace: str, item: ItemT) -> None:
        """Removes a waiting item. Its namespace keeps its turn for its other items."""
        del self._items[namespace][item]
        if not self._items[namespace]:
            del self._items[namespace]

    def pop(self, in_use: Iterable[str] = ()) -> ItemT:
        """Removes and returns the next item. `in_use` has the namespace of each item that is in use.

        The namespace with the fewest items in use is next; of several, the one whose last turn is longest ago.
        """
        used = Counter(in_use)
        namespace = min(self._items, key=used.__getitem__)
        items = self._items.pop(namespace)
        item, _ = items.popitem(last=False)
        if items:
            self._items[namespace] = items
        return item
