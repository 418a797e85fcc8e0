"""The API server refuses wrong manifests, each with the wrong field and the remedy."""

from __future__ import annotations

import json
from typing import Any

import pytest
from kubernetes.client import ApiException

from tests.apiserver.crds import Objects
from tests.support.manifests import append_table, catalog, edited, keyed_table, run
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


JDBC = {"type": "Jdbc", "jdbc": {"uri": "jdbc:postgresql://db:5432/paimon", "credentialsSecretRef": {"name": "db"}}}
HIVE = {"type": "Hive", "hive": {"uri": "thrift://hms:9083"}}
ON_A_CLAIM = {
    "spec__storage": {"claim": {"name": "disk"}}, "spec__warehouse": "file:///data/lake", "spec__locations": []
}  # fmt: skip
IDENTITY = [
    (keyed_table(spec__table="orders"), {"spec__catalogRef__name": "other"}, "spec.catalogRef"),
    (keyed_table(spec__table="orders"), {"spec__database": "other"}, "spec.database"),
    (keyed_table(spec__table="orders"), {"spec__table": "other"}, "spec.table"),
    (keyed_table(), {"spec__table": "orders"}, "spec.table"),
    (catalog(), {"spec__warehouse": "s3://lake/other"}, "spec.warehouse"),
    (catalog(), {"spec__metastore": JDBC}, "spec.metastore"),
    (catalog(spec__metastore=JDBC), {"spec__metastore__jdbc__uri": "jdbc:postgresql://other/paimon"}, "spec.metastore"),
    (catalog(spec__metastore=JDBC), {"spec__metastore": {"type": "Filesystem"}}, "spec.metastore"),
    (catalog(spec__metastore=HIVE), {"spec__metastore__hive__uri": "thrift://other:9083"}, "spec.metastore"),
    (catalog(spec__metastore=HIVE), {"spec__metastore": JDBC}, "spec.metastore"),
    (catalog(**ON_A_CLAIM), {"spec__storage__claim__name": "other"}, "spec.storage.claim"),
    (run(), {"spec__compact__strategy": "Minor"}, "spec"),
    (run(), {"spec__backoffLimit": 3}, "spec"),
]


@pytest.mark.parametrize(("manifest", "edit", "field"), IDENTITY, ids=[str(edit) for _, edit, _ in IDENTITY])
def test_the_identity_of_an_object_is_immutable(
    objects: Objects, manifest: dict[str, Any], edit: dict[str, object], field: str
) -> None:
    objects.create(manifest)
    with pytest.raises(ApiException) as refusal:
        objects.replace(edited(manifest, **edit))
    assert any(wrong == field and "must not change" in message for wrong, message in _causes(refusal.value))


def test_the_secret_of_a_metastore_may_change(objects: Objects) -> None:
    objects.create(catalog(spec__metastore=JDBC))
    objects.replace(catalog(spec__metastore=JDBC, spec__metastore__jdbc__credentialsSecretRef__name="db-2"))


FIXED_BY_THE_TABLE = [
    ({"spec__schema__primaryKeys": ["dt", "state"]}, "spec.schema.primaryKeys"),
    ({"spec__schema__primaryKeys": ["order_id", "dt"]}, "spec.schema.primaryKeys"),
    ({"spec__schema__partitionKeys": ["order_id"]}, "spec.schema.partitionKeys"),
    ({"spec__mergeEngine": {"type": "FirstRow"}}, "spec.mergeEngine"),
    ({"spec__sequence": {"fields": ["updated_at"]}}, "spec.sequence"),
    ({"spec__schema__partitionDefaultName": "none"}, "spec.schema.partitionDefaultName"),
    ({"spec__deletionVectors": {"enabled": True}}, "spec.deletionVectors.enabled"),
    ({"spec__mergeEngine": {"type": "Deduplicate", "rowKindField": "state"}}, "spec.mergeEngine.rowKindField"),
]

REMOVING = [
    ("PartialUpdate", "partialUpdate", {"removeRecordOnDelete": True}),
    ("Aggregation", "aggregation", {"removeRecordOnDelete": True}),
    (
        "PartialUpdate",
        "partialUpdate",
        {
            "sequenceGroups": [{"sequenceFields": ["updated_at"], "columns": ["state"]}],
            "removeRecordOnSequenceGroup": ["updated_at"],
        },
    ),
]


@pytest.mark.parametrize(("edit", "field"), FIXED_BY_THE_TABLE, ids=[str(edit) for edit, _ in FIXED_BY_THE_TABLE])
def test_keys_and_merging_are_mutable_until_the_table_exists(
    objects: Objects, edit: dict[str, object], field: str
) -> None:
    objects.create(keyed_table())
    objects.replace(edited(keyed_table(), **edit))
    objects.replace(keyed_table())
    objects.set_status(keyed_table(), {"observedGeneration": 1, "table": {"identifier": "shop.orders"}})
    with pytest.raises(ApiException) as refusal:
        objects.replace(edited(keyed_table(), **edit))
    assert any(wrong == field and "once the table exists" in message for wrong, message in _causes(refusal.value))


@pytest.mark.parametrize(("type_", "member", "settings"), REMOVING, ids=str)
def test_what_a_delete_removes_is_immutable_once_the_table_exists(
    objects: Objects, type_: str, member: str, settings: dict[str, Any]
) -> None:
    objects.create(keyed_table(spec__mergeEngine={"type": type_}))
    objects.set_status(keyed_table(), {"observedGeneration": 1, "table": {"identifier": "shop.orders"}})
    with pytest.raises(ApiException) as refusal:
        objects.replace(keyed_table(spec__mergeEngine={"type": type_, member: settings}))
    assert any(
        wrong.startswith(f"spec.mergeEngine.{member}") and "once the table exists" in message
        for wrong, message in _causes(refusal.value)
    )


DEFAULTS = [
    {"spec__mergeEngine": {"type": "Deduplicate"}},
    {"spec__deletionVectors": {"enabled": False}},
    {"spec__schema__partitionDefaultName": "__DEFAULT_PARTITION__"},
]


@pytest.mark.parametrize("edit", DEFAULTS, ids=str)
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
