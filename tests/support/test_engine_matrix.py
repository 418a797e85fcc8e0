"""A test on the newest engine is one that shows the same with every engine, and the whole matrix can be had."""

from __future__ import annotations

import pytest

from tests.support.engine_matrix import WHOLE_MATRIX, engines_for

BOTH = ["paimon-0.9", "paimon-1.4"]


@pytest.mark.parametrize(
    ("metastore", "newest_only", "whole", "engines"),
    [
        ("Filesystem", False, "", BOTH),
        ("Filesystem", True, "", ["paimon-1.4"]),
        ("Filesystem", True, "1", BOTH),
        ("Jdbc", False, "1", ["paimon-1.4"]),
    ],
)
def test_the_marker_leaves_the_newest_engine_unless_the_whole_matrix_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, metastore: str, newest_only: bool, whole: str, engines: list[str]
) -> None:
    monkeypatch.setenv(WHOLE_MATRIX, whole)

    assert engines_for(BOTH, metastore, newest_only=newest_only) == engines


def test_the_newest_is_that_of_the_engines_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(WHOLE_MATRIX, raising=False)

    assert engines_for(["paimon-0.9"], "Filesystem", newest_only=True) == ["paimon-0.9"]
