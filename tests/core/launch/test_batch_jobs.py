"""Whether the job that stands in a Pod is still the work that is asked for."""

from __future__ import annotations

import json

import pytest

from paimon_operator.core.launch.batch_pod import is_same_work

JOB = {"operation": "ExpireSnapshots", "sinceSnapshot": 5, "sinceCommit": "2/00000000", "owner": "c/shop/orders"}
FROZEN = {
    "the same job": ({}, True),
    "commits are looked for since an earlier snapshot": ({"sinceSnapshot": 4, "sinceCommit": "1/00000000"}, True),
    "since the first snapshot on": ({"sinceSnapshot": 0, "sinceCommit": None}, True),
    "since a later snapshot: somebody has rolled back": ({"sinceSnapshot": 6}, False),
    "commits are not looked for": ({"sinceSnapshot": None, "sinceCommit": None}, False),
    "another owner": ({"owner": "c/shop/clicks"}, False),
    "another owner, since an earlier snapshot": ({"sinceSnapshot": 4, "owner": "c/shop/clicks"}, False),
    "a parameter that the other lacks": ({"expireSnapshots": {}}, False),
}


@pytest.mark.parametrize(("change", "same"), FROZEN.values(), ids=FROZEN)
def test_a_frozen_job_is_performed_only_if_it_does_the_same(change: dict[str, object], same: bool) -> None:
    frozen = {key: value for key, value in {**JOB, **change}.items() if value is not None}
    assert is_same_work(json.dumps(frozen), json.dumps(JOB)) is same


def test_a_pod_without_a_job_of_the_run_performs_nothing() -> None:
    assert not is_same_work(None, json.dumps(JOB))
