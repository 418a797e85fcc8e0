"""The API server refuses wrong manifests, each with the wrong field and the remedy."""

from __future__ import annotations

import json
from typing import Any

import pytest
from kubernetes.client import ApiException

from tests.apiserver.crds import Objects
from tests.support.manifests import append_table, catalog, edited, keyed_table, run
from tests.support.refused_edits import DEFAULTS_WRITTEN_OUT, IDENTITY, JDBC, ONCE_THE_TABLE_EXISTS, RefusedEdit
from tests.support.wrong_manifest import WrongManifest
from tests.support.wrong_manifests import REFUSED_AT_APPLY, STALLED_IN_RECONCILE


@pytest.mark.parametrize("wrong", REFUSED_AT_APPLY, ids=lambda wrong: wrong.name)
def test_a_wrong_manifest_is_refused_with_field_and_remedy(objects: Objects, wrong: WrongManifest) -> None:
    with pytest.raises(ApiException) as refusal:
        objects.create(wrong.manifest)
    causes = _causes(refusal.value)
    assert any(field == wrong.field and wrong.contains in message for field, message in causes), causes
    assert not objects.names(wrong.manifest["kind"])


@pytest.mark.parametrize("wrong", STALLED_IN_RECONCILE, ids=lambda wrong: wrong.name)
def test_a_mistake_that_only_reconcile_can_detect_is_admitted(objects: Objects, wrong: WrongManifest) -> None:
    objects.create(wrong.manifest)


@pytest.mark.parametrize("manifest", [keyed_table(), append_table(), catalog(), run()], ids=lambda m: m["kind"])
def test_the_manifests_that_the_mistakes_are_based_on_are_admitted(objects: Objects, manifest: dict[str, Any]) -> None:
    assert objects.create(manifest)["status"] == {"observedGeneration": -1}


@pytest.mark.parametrize("refused", IDENTITY, ids=lambda refused: str(refused.edit))
def test_the_identity_of_an_object_is_immutable(objects: Objects, refused: RefusedEdit) -> None:
    objects.create(refused.manifest)
    objects.replace(refused.manifest)
    with pytest.raises(ApiException) as refusal:
        objects.replace(edited(refused.manifest, **refused.edit))
    assert any(wrong == refused.field and "must not change" in message for wrong, message in _causes(refusal.value))


def test_the_secret_of_a_metastore_may_change(objects: Objects) -> None:
    objects.create(catalog(spec__metastore=JDBC))
    objects.replace(catalog(spec__metastore=JDBC, spec__metastore__jdbc__credentialsSecretRef__name="db-2"))


@pytest.mark.parametrize("refused", ONCE_THE_TABLE_EXISTS, ids=lambda refused: str(refused.edit))
def test_keys_and_merging_are_mutable_until_the_table_exists(objects: Objects, refused: RefusedEdit) -> None:
    objects.create(refused.manifest)
    objects.replace(edited(refused.manifest, **refused.edit))
    objects.replace(refused.manifest)
    objects.set_status(refused.manifest, {"observedGeneration": 1, "table": {"identifier": "shop.orders"}})
    with pytest.raises(ApiException) as refusal:
        objects.replace(edited(refused.manifest, **refused.edit))
    blamed = [message for wrong, message in _causes(refusal.value) if wrong == refused.field]
    assert any("once the table exists" in message and refused.contains in message for message in blamed), blamed


@pytest.mark.parametrize("edit", DEFAULTS_WRITTEN_OUT, ids=str)
def test_a_default_may_be_written_out_once_the_table_exists(objects: Objects, edit: dict[str, Any]) -> None:
    objects.create(keyed_table())
    objects.set_status(keyed_table(), {"observedGeneration": 1, "table": {"identifier": "shop.orders"}})
    objects.replace(keyed_table(**edit))


def _causes(refusal: ApiException) -> list[tuple[str, str]]:
    """Returns fields and messages of a refusal. An unknown field is only in the message of the whole."""
    body = json.loads(refusal.body or "{}")
    if "strict decoding error" in body["message"]:
        field = body["message"].split('unknown field "')[1].split('"')[0]
        return [(field, body["message"])]
    return [(cause["field"], cause["message"]) for cause in body["details"]["causes"]]
