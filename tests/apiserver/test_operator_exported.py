"""An exported manifest stays as it was exported: kubectl diff finds nothing once the operator has reconciled it."""

from __future__ import annotations

import io
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core.spec.desired_table import desired_table
from paimon_operator.core.spec.edit_plan import declared_schema
from paimon_operator.export.command import main
from paimon_schema.plan import schema_after
from paimon_schema.table_schema import schema_file_of
from tests.apiserver.api import kubectl
from tests.apiserver.namespace_client import TABLES, NamespaceClient, conditions
from tests.apiserver.replicas import namespace_with_operator
from tests.cluster.apiserver import ApiServer
from tests.support import builders
from tests.support.manifests import Manifest, catalog, edited

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))


@pytest.fixture(scope="module")
def ns(api_server: ApiServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NamespaceClient]:
    with namespace_with_operator(api_server, "exported", tmp_path_factory.mktemp("operator")) as ns:
        yield ns


@pytest.fixture(scope="module")
def exported(ns: NamespaceClient, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The export of a warehouse that has the tables of all examples."""
    directory = tmp_path_factory.mktemp("exported")
    lake = catalog(spec__allowedDatabases=["shop"], metadata__namespace=ns.namespace)
    for name, schema_file in schema_files(PaimonCatalog.model_validate(lake)).items():
        schemas = directory / "shop.db" / name / "schema"
        schemas.mkdir(parents=True)
        (schemas / "schema-0").write_text(schema_file)
    (directory / "lake.yaml").write_text(yaml.safe_dump(lake))
    target, messages = io.StringIO(), io.StringIO()
    given = ["--warehouse", str(directory), "--catalog", str(directory / "lake.yaml")]
    assert main(given, io.StringIO(), target, messages) == 0
    assert "0 as comments" in messages.getvalue()
    return target.getvalue()


def test_kubectl_diff_of_an_export_is_empty_after_the_operator_has_reconciled_it(
    ns: NamespaceClient, exported: str
) -> None:
    names = [each["metadata"]["name"] for each in manifests_in(exported)]
    assert len(names) >= len(EXAMPLES) // 2, "most examples have a table"
    for server_side in ((), ("--server-side",)):
        kubectl(ns.kubeconfig, "apply", *server_side, "-f", "-", stdin=exported)
        ns.wait(lambda: not ns.succeed_all() and all_ready(ns, names), "all tables Ready")
        assert kubectl(ns.kubeconfig, "diff", *server_side, "-f", "-", stdin=exported) == ""

    changed = [edited(each, spec__schema__comment="another") for each in manifests_in(exported)]
    with pytest.raises(subprocess.CalledProcessError, match="exit status 1") as found:
        kubectl(ns.kubeconfig, "diff", "-f", "-", stdin=yaml.safe_dump_all(changed))
    assert found.value.stdout.count("+    comment: another") == len(names)


def schema_files(lake: PaimonCatalog) -> dict[str, str]:
    """The schema files of the examples' tables, by table."""
    found = {}
    for table in (each for path in EXAMPLES for each in manifests_in(path.read_text())):
        spec = table["spec"] | {"catalogRef": {"name": lake.metadata.name}, "database": "shop"}
        parsed = PaimonTable.model_validate(table | {"spec": spec})
        context = builders.context(parsed, lake)
        schema = schema_after(None, declared_schema(desired_table(context.spec, context.effective)))
        found[parsed.metadata.name.replace("-", "_")] = schema_file_of(schema)
    return found


def manifests_in(text: str) -> list[Manifest]:
    """The PaimonTables of a file."""
    return [each for each in yaml.safe_load_all(text) if each and each["kind"] == "PaimonTable"]


def all_ready(ns: NamespaceClient, names: list[str]) -> bool:
    """Whether each of these tables is Ready with its current manifest."""
    return all(is_ready(ns.get(TABLES, name)) for name in names)


def is_ready(table: Manifest) -> bool:
    found = conditions(table).get("Ready", {})
    return (found.get("status"), found.get("observedGeneration")) == ("True", table["metadata"]["generation"])
