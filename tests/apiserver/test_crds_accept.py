"""The API server admits correct manifests: examples, the smallest and the widest table. `kubectl` explains them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from paimon_operator.generate.crd import RESOURCES, ResourceDefinition
from tests.apiserver.api import kubectl
from tests.apiserver.crds import NAMESPACE, Objects
from tests.cluster.apiserver import ApiServer
from tests.support import widest_tables
from tests.support.manifests import append_table, catalog, edited, keyed_table, run
from tests.support.right_manifests import WHOLE
from tests.support.table_rules import TABLE_RULES
from tests.support.table_rules.remedies import REMEDIES
from tests.support.table_rules.rule import TableRule

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))


def documents(path: Path) -> Iterator[dict[str, Any]]:
    """Yields the objects of the three kinds in a file."""
    for document in yaml.safe_load_all(path.read_text()):
        if document["apiVersion"].startswith("paimon-operator.dev/"):
            yield document


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_is_admitted(objects: Objects, path: Path) -> None:
    for document in documents(path):
        objects.create(edited(document, metadata__namespace=NAMESPACE))


def test_a_minimal_table_has_at_most_15_lines(objects: Objects) -> None:
    text = (Path(__file__).parents[2] / "examples" / "minimal.yaml").read_text()
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    assert len(lines) <= 15
    objects.create(yaml.safe_load(text))


@pytest.mark.parametrize(
    "manifest",
    [widest_tables.aggregating(), widest_tables.grouped(), widest_tables.defaulting()],
    ids=["aggregating", "grouped", "defaulting"],
)
def test_the_widest_table_stays_within_the_cost_limits_on_create_and_on_update(
    objects: Objects, manifest: dict[str, Any]
) -> None:
    objects.create(manifest)
    objects.replace(edited(manifest, spec__schema__comment="y" * 1024, spec__schema__columns__499__comment="edited"))
    objects.set_status(manifest, {"observedGeneration": 2, "table": {"identifier": "d.t"}})
    objects.replace(edited(manifest, spec__schema__comment="z" * 1024, spec__schema__columns__0__comment="edited"))


@pytest.mark.parametrize("rule", TABLE_RULES, ids=lambda rule: rule.id)
def test_the_right_manifest_of_each_rule_is_admitted(objects: Objects, rule: TableRule) -> None:
    objects.create(rule.right)


@pytest.mark.parametrize("manifest", REMEDIES.values(), ids=REMEDIES)
def test_what_the_messages_of_the_rules_advise_is_admitted(objects: Objects, manifest: dict[str, Any]) -> None:
    objects.create(manifest)


@pytest.mark.parametrize("manifest", WHOLE, ids=lambda manifest: manifest["kind"])
def test_manifests_with_every_part_that_has_a_rule_are_admitted(objects: Objects, manifest: dict[str, Any]) -> None:
    objects.create(manifest)


def test_columns_of_every_kind_of_type_are_admitted(objects: Objects) -> None:
    types = [
        "BOOLEAN", "TINYINT", "SMALLINT", "INT", "int not null", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(38,10)",
        "CHAR(3)", "VARCHAR(20)", "STRING", "BINARY(4)", "VARBINARY(9)", "BYTES", "DATE", "TIMESTAMP(6)",
        "TIMESTAMP(3) NOT NULL", "TIMESTAMP_LTZ(6)", "ARRAY<STRING>", "MAP<STRING, INT>",
        "ROW<a INT, b ARRAY<DECIMAL(3,1)>>",
    ]  # fmt: skip
    columns = [{"name": f"c{n}", "type": type_} for n, type_ in enumerate(types)]
    objects.create(append_table(spec__schema__columns=columns))


@pytest.mark.parametrize(
    "uri",
    [
        "jdbc:postgresql://db/paimon",
        "jdbc:postgresql://10.0.0.7:5432/paimon",
        "jdbc:postgresql://one:5432,two:5432/paimon?targetServerType=primary",
        "jdbc:postgresql://db.example.com/paimon?sslmode=verify-full&sslfactory=org.postgresql.ssl.DefaultJavaSSLFactory",
        "jdbc:postgresql://[::1]:5432/paimon?currentSchema=lake",
    ],
)
def test_addresses_of_metastores_are_admitted(objects: Objects, uri: str) -> None:
    jdbc = {"uri": uri, "credentialsSecretRef": {"name": "db"}}
    objects.create(catalog(spec__metastore={"type": "Jdbc", "jdbc": jdbc}))


@pytest.mark.parametrize("uri", ["thrift://hms:9083", "thrift://hms.example.com:9083", "thrift://10.0.0.7:19083"])
def test_addresses_of_hive_metastores_are_admitted(objects: Objects, uri: str) -> None:
    objects.create(catalog(spec__metastore={"type": "Hive", "hive": {"uri": uri}}))


def test_the_crds_have_only_these_defaults(objects: Objects) -> None:
    spec = objects.create(append_table())["spec"]
    written = append_table()["spec"]
    assert {key: spec[key] for key in spec.keys() - written.keys()} == {
        "externalWriters": "None",
        "adoptionPolicy": "AdoptIfIdentical",
        "deletionPolicy": "Retain",
        "driftPolicy": "Report",
        "suspend": False,
    }
    stored = objects.create(catalog())["spec"]
    assert {key: stored[key] for key in stored.keys() - catalog()["spec"].keys()} == {
        "commitPolicy": "RequireSafe",
        "suspend": False,
    }


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.kind)
def test_kubectl_explains_every_field(api_server: ApiServer, resource: ResourceDefinition) -> None:
    explained = kubectl(api_server.kubeconfig, "explain", resource.short_name, "--recursive")
    assert resource.kind in explained
    for field in (*resource.spec.model_fields.values(), *resource.status.model_fields.values()):
        assert "\t<" in explained
        assert str(field.alias) in explained


def test_kubectl_explains_a_field_in_words(api_server: ApiServer) -> None:
    explained = kubectl(api_server.kubeconfig, "explain", "pt.spec.compaction.mode")
    assert "Inline: writers compact as they write." in explained


def test_kubectl_get_shows_the_columns_of_a_table(api_server: ApiServer, objects: Objects) -> None:
    objects.create(keyed_table())
    objects.set_status(keyed_table(), SETTLED)
    heading, row = kubectl(api_server.kubeconfig, "get", "pt", "-n", "shop", "-o", "wide").splitlines()
    assert heading.split() == (
        [
            "NAME",
            "READY",
            "REASON",
            "TABLE",
            "HEALTHY",
            "SORTEDRUNS",
            "COMPACTED",
            "CATALOG",
            "ENGINE",
            "ROWS",
            "SIZE",
            "SNAPSHOT",
            "MESSAGE",
            "AGE",
        ]
    )
    cells = row.split()
    assert cells[:6] == ["orders", "True", "TableMatchesSpec", "shop.orders", "True", "4"]
    assert cells[7:14] == ["lake", "paimon-1.4", "91000", "70Mi", "812", "schema", "3"]


def test_kubectl_get_shows_the_columns_of_a_run_and_a_catalog(api_server: ApiServer, objects: Objects) -> None:
    objects.create(run())
    objects.create(catalog())
    assert kubectl(api_server.kubeconfig, "get", "prun", "-n", "shop").split()[:7] == (
        ["NAME", "TABLE", "TYPE", "SUCCEEDED", "REASON", "TRIGGER", "AGE"]
    )
    heading, row = kubectl(api_server.kubeconfig, "get", "pcat", "-n", "shop").splitlines()
    assert heading.split() == ["NAME", "READY", "REASON", "ENGINE", "SAFE", "SUSPENDED", "TABLES", "AGE"]
    assert row.split()[:2] == ["lake", "false"]


def test_one_category_lists_all_three_kinds(api_server: ApiServer, objects: Objects) -> None:
    for manifest in (keyed_table(), catalog(), run()):
        objects.create(manifest)
    listed = kubectl(api_server.kubeconfig, "get", "paimon", "-n", "shop", "-o", "name").split()
    assert sorted(name.split(".")[0] for name in listed) == ["paimoncatalog", "paimonrun", "paimontable"]


SETTLED = {
    "observedGeneration": 1,
    "engine": "paimon-1.4",
    "conditions": [
        {
            "type": type_,
            "status": "True",
            "reason": reason,
            "message": message,
            "lastTransitionTime": "2026-11-21T08:00:00Z",
        }
        for type_, reason, message in (
            ("Ready", "TableMatchesSpec", "schema 3"),
            ("Healthy", "RunsSucceeding", "max 4 sorted runs, threshold 5"),
        )
    ],
    "table": {"identifier": "shop.orders", "rows": 91000, "size": "70Mi", "snapshotId": 812},
    "health": {"sortedRunsMax": 4},
    "compaction": {"lastTime": "2026-11-21T08:00:00Z"},
}
