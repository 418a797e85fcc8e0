"""The tutorials on the node: the manifests and the commands of each page, in their order.

What the node has in place of the page's servers is replaced by name. A name that a page no longer has fails its test.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cluster.cache import CHECKOUT
from tests.cluster.hdfs import on_node, realm
from tests.e2e.hdfs_lab import HdfsLab
from tests.e2e.lab import Lab
from tests.e2e.labs import hdfs_lab_in, name_of
from tests.support import pypaimon_on_hdfs
from tests.support.docs_commands import steps_of
from tests.support.kubectl import Object, condition

pytestmark = pytest.mark.long

LIMIT_S: Final = 900
EVERY_MINUTE: Final = '"* * * * *"'


def followed(lab: Lab, directory: Path, page: str, by: Mapping[str, str]) -> str:
    """Writes the files of a page into the directory and runs its commands there. Returns what they have printed."""
    here = {"-n shop": f"-n {lab.namespace}", "namespace: shop": f"namespace: {lab.namespace}"}
    here |= {"database: shop": f"database: {lab.database}"}
    steps = steps_of(page, {**by, **here})
    for name, text in steps.files.items():
        (directory / name).write_text(text)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", steps.commands],
        cwd=directory,
        env={**lab.env, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def emptied(lab: Lab, *objects: tuple[str, str]) -> Lab:
    """The lab without its catalog and without these objects: the page makes them."""
    for kind, name in (("paimoncatalog", "lake"), *objects):
        lab.kubectl.delete(kind, name, wait=True)
    return lab


def test_files_on_s3_become_rows(lab: Lab, tmp_path: Path) -> None:
    emptied(lab, ("secret", "lake-s3"))
    printed = followed(
        lab,
        tmp_path,
        "docs/tutorial-s3.md",
        {
            "AWS_ACCESS_KEY_ID=...": 'AWS_ACCESS_KEY_ID="$AWS_ACCESS_KEY_ID"',
            "AWS_SECRET_ACCESS_KEY=...": 'AWS_SECRET_ACCESS_KEY="$AWS_SECRET_ACCESS_KEY"',
            "s3://lake/warehouse": f"s3://lake/{lab.namespace}",
            "s3://landing/": f"s3://landing/{lab.namespace}/",
            "endpoint: https://s3.example.com": f"endpoint: {lab.s3_in_cluster}",
            "region: us-east-1": f"region: {lab.env['AWS_REGION']}",
            "aws --endpoint-url https://s3.example.com s3 cp": f"{sys.executable} -m tests.support.s3_copy",
            '"*/15 * * * *"': EVERY_MINUTE,
        },
    )

    assert lab.rows("orders") == [
        {"order_id": 1, "amount": "9.50", "state": "new"},
        {"order_id": 2, "amount": "12.00", "state": "paid"},
    ]
    assert re.search(r"Committed Snapshot: +1\b", printed), printed
    assert [run["status"]["phase"] for run in lab.runs("orders", "Provision")] == ["Succeeded"]


@pytest.mark.xdist_group("hdfs")
class TestOnHdfsWithKerberos:
    """The table of the Kerberos page, and then that of the Flink page in the same catalog, as the page proposes."""

    @pytest.fixture(scope="class")
    @classmethod
    def shop(cls, request: pytest.FixtureRequest, cluster_env: Mapping[str, str], engine: str) -> Iterator[HdfsLab]:
        with hdfs_lab_in(cluster_env, name_of(request, engine), engine, on_node.KERBEROS) as made:
            emptied(made, ("configmap", "hadoop-conf"), ("configmap", "krb5"), ("secret", "lake-keytab"))
            yield made

    def test_a_table_is_made_by_a_login_from_a_keytab(self, shop: HdfsLab, tmp_path: Path) -> None:
        assert shop.hdfs.realm is not None
        for name, text in shop.hdfs.client_files().items():
            (tmp_path / name).write_text(text)
        shutil.copy(shop.hdfs.realm.krb5_conf, tmp_path / "krb5.conf")
        shutil.copy(shop.hdfs.realm.keytab(realm.USER), tmp_path / "paimon.keytab")

        printed = followed(
            shop,
            tmp_path,
            "docs/tutorial-kerberos.md",
            {
                "warehouse: hdfs://lake/warehouse": f"warehouse: {shop.warehouse}",
                "principal: paimon@EXAMPLE.COM": f"principal: {realm.USER}@{realm.NAME}",
            },
        )

        assert "SingleCommitter" in printed
        assert says(shop, "visits", "CommitSafe") == ("True", "SingleCommitter")
        assert shop.rows("visits") == []
        owners = {line.split()[2] for line in shop.hdfs.shell("-ls", "-R", shop.warehouse).splitlines()}
        assert owners == {realm.USER}

    def test_a_table_that_another_program_writes_is_adopted_and_compacted(self, shop: HdfsLab, tmp_path: Path) -> None:
        """The other program is pypaimon: there is no Flink here. It commits before the adoption, and six times after
        it, so that the schedule of the page has a bucket with enough sorted runs."""
        pypaimon_on_hdfs.create_table(shop.hdfs, shop.warehouse, shop.database, {**CLICKS, "rows": [clicked(1, 0)]})

        printed = followed(shop, tmp_path, "docs/tutorial-flink.md", {'"*/10 * * * *"': EVERY_MINUTE})

        assert "clicks" in printed
        assert says(shop, "clicks", "CommitSafe") == ("True", "AtomicRename")
        assert shop.rows("clicks") == [read(1, 0)]

        commits = [[clicked(1, number), clicked(2, number)] for number in range(1, 7)]
        pypaimon_on_hdfs.write_commits(shop.hdfs, shop.warehouse, shop.database, "clicks", commits)

        def compacted(runs: list[Object]) -> bool:
            return any((run.get("status") or {}).get("compactedPartitions") for run in runs)

        shop.kubectl.until_list("paimonrun", "paimon-operator.dev/table=clicks", compacted, what="compacted")
        assert shop.rows("clicks") == [read(1, 6), read(2, 6)]
        shop.kubectl.until("paimontable", "clicks", nothing_to_compact, what="without need of a compaction")
        described = shop.kubectl.run("describe", "paimontable", "clicks")
        assert re.search(r"at most \d sorted runs? in a bucket", described), described
        assert re.search(r"Last Run: +clicks-compact-", described), described
        assert says(shop, "clicks", "Stalled")[0] == "False"


def nothing_to_compact(table: Object | None) -> bool:
    minor = ((table or {})["status"].get("compaction") or {}).get("minor") or {}
    return (minor.get("decision") or {}).get("reason") == "NotNeeded" and "lastRun" in minor


def says(lab: Lab, table: str, type_: str) -> tuple[str, str]:
    found = condition(lab.kubectl.get("paimontable", table), type_)
    return found["status"], found["reason"]


CLICKS: Final[dict[str, Any]] = {
    "name": "clicks",
    "fields": [
        {"id": 0, "name": "user_id", "type": "BIGINT NOT NULL"},
        {"id": 1, "name": "clicks", "type": "BIGINT"},
        {"id": 2, "name": "last_seen", "type": "TIMESTAMP(3)"},
    ],
    "partitionKeys": [],
    "primaryKeys": ["user_id"],
    "options": {"bucket": "4"},
    "comment": None,
}
"""The table of the page, as the other program makes it."""


def clicked(user: int, clicks: int) -> dict[str, Any]:
    return {"user_id": user, "clicks": clicks, "last_seen": None}


def read(user: int, clicks: int) -> dict[str, Any]:
    """The row as the reader returns it."""
    return clicked(user, clicks)
