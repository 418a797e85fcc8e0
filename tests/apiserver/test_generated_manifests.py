"""The API server and the operator's own rules judge the generated manifests alike.

What the server refuses, the operator refuses on every engine. What the operator accepts on any engine, the server
admits.
"""

from __future__ import annotations

import json

import pytest
from kubernetes.client import ApiException

from tests.apiserver.crds import Objects
from tests.support.generated_manifests.generator import manifest
from tests.support.generated_manifests.kept import ENGINES, judge, kept

PARTS = 10


@pytest.mark.parametrize("part", range(PARTS))
def test_the_server_refuses_no_manifest_that_an_engine_accepts(objects: Objects, part: int) -> None:
    wrong = []
    for number in kept()[part::PARTS]:
        accepted = [engine for engine in ENGINES if not judge(manifest(number), engine).field]
        refused = refusal(objects, number)
        if accepted and refused:
            wrong.append((number, accepted, refused))
    assert wrong == []


def test_the_server_refuses_some_and_admits_some(objects: Objects) -> None:
    refused = [bool(refusal(objects, number)) for number in kept()[::PARTS]]
    assert 0 < sum(refused) < len(refused)


def refusal(objects: Objects, number: int) -> list[str]:
    """Why the server does not admit the manifest; empty if it does."""
    try:
        objects.create(manifest(number), dry_run=True)
    except ApiException as error:
        return [cause["message"] for cause in json.loads(error.body or "{}")["details"]["causes"]]
    return []
