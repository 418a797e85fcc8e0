"""The API server refuses a spec of more than 256 KiB, whichever part of it is large."""

from __future__ import annotations

import json

import pytest
from kubernetes.client import ApiException

from paimon_operator.api.base import MAX_SPEC_BYTES, SPEC_REST_BYTES
from tests.apiserver.crds import Objects
from tests.support.sized_specs import SHAPES, of_size, size_of


@pytest.mark.parametrize("shape", SHAPES)
def test_a_spec_that_is_too_large_is_refused_with_the_limit(objects: Objects, shape: str) -> None:
    manifest = of_size(SHAPES[shape], MAX_SPEC_BYTES + 1)
    with pytest.raises(ApiException) as refusal:
        objects.create(manifest)
    causes = json.loads(refusal.value.body or "{}")["details"]["causes"]
    assert [cause for cause in causes if "at most 256 KiB" not in cause["message"]] == []
    assert {cause["field"] for cause in causes} <= {"spec", "spec.compact.partitions"}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_spec_of_two_thirds_of_the_limit_is_admitted(objects: Objects, shape: str) -> None:
    most = (MAX_SPEC_BYTES - SPEC_REST_BYTES) * 2 // 3
    manifest = of_size(SHAPES[shape], most)
    objects.create(manifest)
    assert size_of(manifest) > most - 2048
