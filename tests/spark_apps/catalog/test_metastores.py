"""The kinds of metastore: each type that an engine supports has a class, and an unknown type is refused."""

from __future__ import annotations

import pytest

from paimon_contract.job import JobCatalog
from paimon_engines.loader import supported_engines
from paimon_operator.core.storage.filesystem import FilesystemMetastore
from paimon_operator.core.storage.hive import HiveMetastore
from paimon_operator.core.storage.jdbc import JdbcMetastore
from spark_apps.catalog.metastores import metastore_of
from spark_apps.failures.errors import RunError

ENGINES = supported_engines()
OPERATORS_NAMES: dict[str, str] = {
    kind.type: kind.paimon_name for kind in (FilesystemMetastore, JdbcMetastore, HiveMetastore)
}
"""Type in the manifest -> name in the job."""


@pytest.mark.parametrize(
    ("engine", "metastore"), [(engine, kind) for engine in ENGINES for kind in sorted(ENGINES[engine].metastores)]
)
def test_each_metastore_of_each_engine_has_a_class_with_its_paimon_name(engine: str, metastore: str) -> None:
    name = OPERATORS_NAMES[metastore]
    options = metastore_of(JobCatalog("s3://lake", name, {"uri": "jdbc:x"}), ENGINES[engine]).catalog_options
    assert options.get("metastore", "filesystem") == name


@pytest.mark.parametrize(("name", "registers"), [("filesystem", False), ("jdbc", True), ("hive", True)])
def test_only_a_server_registers_tables_apart_from_their_files(name: str, registers: bool) -> None:
    assert metastore_of(JobCatalog("s3://lake", name), ENGINES["paimon-1.4"]).registers_tables is registers


def test_an_unknown_metastore_is_refused() -> None:
    with pytest.raises(RunError, match="knows no metastore of type rest") as refused:
        metastore_of(JobCatalog("s3://lake", "rest"), ENGINES["paimon-1.4"])
    assert (refused.value.kind, refused.value.reason) == ("Environment", "EngineMismatch")
