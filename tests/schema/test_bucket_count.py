"""When the number of buckets of a manifest is left to a rescale."""

from __future__ import annotations

import pytest

from paimon_schema.bucket_count import RESCALE_OPTION, with_count_of
from tests.schema.schemas import declared, table


@pytest.mark.parametrize(
    ("sentence", "has", "wants", "rescales", "expected"),
    [
        ("the manifest asks for a rescale", {"bucket": "2"}, {"bucket": "8"}, True, "2"),
        ("it does not", {"bucket": "2"}, {"bucket": "8"}, False, "8"),
        ("a rescale is unfinished", {"bucket": "2", RESCALE_OPTION: "tag"}, {"bucket": "8"}, False, "2"),
        ("to buckets of another type", {"bucket": "2"}, {"bucket": "-1"}, True, "-1"),
        ("from buckets of another type", {"bucket": "-1"}, {"bucket": "8"}, True, "8"),
        ("the manifest has no number", {"bucket": "2"}, {}, True, None),
        ("the table has none", {}, {"bucket": "8"}, True, "8"),
    ],
)
def test_only_another_number_of_fixed_buckets_is_left_to_a_rescale(
    sentence: str, has: dict[str, str], wants: dict[str, str], expected: str | None, *, rescales: bool
) -> None:
    found = with_count_of(table("id INT", **has), declared("id INT", options=wants), rescales=rescales)
    assert found.options.get("bucket") == expected, sentence
