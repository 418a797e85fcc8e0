"""The main job on every engine: apply, three upserts over the same keys, compact, expire; a foreign reader agrees."""

from __future__ import annotations

import pytest

from tests.e2e.lab import Lab
from tests.e2e.life import live


@pytest.mark.usefixtures("each_engine")
def test_a_table_lives(lab: Lab) -> None:
    live(lab)


def test_describe_answers_what_happened(lab: Lab) -> None:
    lab.kubectl.apply(lab.table("t", {"id": "BIGINT"}, keys=["id"]))
    lab.ready("t")

    text = lab.kubectl.run("describe", "paimontable", "t")
    assert "TableMatchesSpec" in text
    assert "Events:" in text
    assert "Provision" in text.split("Events:")[1]
