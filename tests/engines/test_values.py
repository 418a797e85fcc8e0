"""Two spellings of one value of an option are one value, as Paimon reads them."""

from __future__ import annotations

import pytest

from tests.support import builders

ENGINES = tuple(builders.engines())

SAME = [
    ("snapshot.time-retained", "1 h", "60 min"),
    ("snapshot.time-retained", "1h", " 3600 s "),
    ("snapshot.time-retained", "1000 milliseconds", "1 s"),
    ("target-file-size", "128 mb", "134217728 b"),
    ("target-file-size", "1 g", "1024 mebibytes"),
    ("write-only", "TRUE", "true"),
    ("merge-engine", "Partial-Update", "partial-update"),
    ("num-levels", "05", "5"),
    ("lookup.cache.bloom.filter.fpp", "5e-2", "0.05"),
    ("bucket-key", "id", "id"),
    ("snapshot.num-retained.min", None, "10"),
    ("bucket-key", None, None),
    ("no-such-option", "1 h", "1 h"),
]
DIFFERENT = [
    ("snapshot.time-retained", "1 h", "61 min"),
    ("target-file-size", "128 mb", "128 kb"),
    ("write-only", "true", "false"),
    ("write-only", None, "true"),
    ("bucket-key", "id", "ID"),
    ("num-levels", "many", "5"),
    ("no-such-option", "1 h", "60 min"),
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("key", "one", "other"), SAME)
def test_two_spellings_mean_the_same(engine: str, key: str, one: str | None, other: str | None) -> None:
    assert builders.engines()[engine].means_the_same(key, one, other)
    assert builders.engines()[engine].means_the_same(key, other, one)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("key", "one", "other"), DIFFERENT)
def test_two_values_do_not(engine: str, key: str, one: str | None, other: str | None) -> None:
    assert not builders.engines()[engine].means_the_same(key, one, other)
