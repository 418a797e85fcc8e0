"""A lake of tables that other programs made becomes PaimonTables by the commands of docs/adopt.md."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest
import yaml

from tests.cluster import release
from tests.e2e.lab import Lab
from tests.support import pypaimon_tables
from tests.support.docs_commands import commands_of
from tests.support.kubectl import condition

FIELDS = [{"id": 0, "name": "id", "type": "BIGINT NOT NULL"}, {"id": 1, "name": "v", "type": "STRING"}]
KEYED: dict[str, Any] = {"fields": FIELDS, "partitionKeys": [], "primaryKeys": ["id"], "comment": None}
TABLES = [
    {**KEYED, "name": "clicks", "options": {"bucket": "2", "file.format": "orc"}, "rows": [{"id": 1, "v": "a"}]},
    {**KEYED, "name": "users", "options": {"bucket": "1", "snapshot.num-retained.max": "30"}, "rows": []},
]


@pytest.mark.long
def test_the_tables_of_a_lake_are_exported_and_adopted_by_the_commands_of_the_page(lab: Lab) -> None:
    lab.kubectl.apply(lab.table("orders", {"id": "BIGINT"}, keys=["id"]))
    lab.ready("orders")
    pypaimon_tables.create_tables(f"s3://lake/{lab.namespace}", lab.database, TABLES, env=lab.env)

    lake = exported(lab)

    manifests = [each for each in yaml.safe_load_all(lake) if each]
    assert {each["spec"]["table"] for each in manifests} == {"clicks", "users"}, lake
    before = {name: lab.keys(f"{lab.database}.db/{name}/schema/") for name in ("clicks", "users")}
    lab.kubectl.run("apply", "-f", "-", stdin=lake)
    for each in manifests:
        lab.ready(each["metadata"]["name"])
        table = each["spec"]["table"]
        assert len(lab.keys(f"{lab.database}.db/{table}/schema/")) == len(before[table]) + 1, "the owner mark"
    assert lab.rows("clicks") == [{"id": 1, "v": "a"}]
    found = [lab.kubectl.get("paimontable", each["metadata"]["name"]) for each in manifests]
    assert [condition(each, "Drifted")["status"] for each in found] == ["False", "False"]
    assert lab.kubectl.run("diff", "-f", "-", stdin=lake) == "", "kubectl diff is empty"


def exported(lab: Lab) -> str:
    """Runs the commands of the page in the lab's namespace, with the image of this cluster."""
    commands = commands_of("docs/adopt.md", "## Export")
    for text, here in (
        ("-n shop", f"-n {lab.namespace}"),
        ("REGISTRY/paimon-operator:TAG", release.images()["operator"]),
        ("create -f examples/describe-lake.yaml", "create -f -"),
        (" > lake.yaml", ""),
    ):
        assert text in commands
        commands = commands.replace(text, here)
    run = lab.run("orders", "describe-lake", type="Describe")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        input=yaml.safe_dump(run),
        env=dict(lab.env),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.partition("condition met\n")[2]
