"""The how-to pages on the node: their parts of manifests and their commands.

`tests/spark/test_move_to_another_cluster.py` and `test_recover_by_hand.py` run the rest of them.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.cache import CHECKOUT
from tests.e2e.lab import Lab, once
from tests.support.docs_commands import blocks_below, steps_of
from tests.support.kubectl import Object, condition

COLUMNS = {"order_id": "BIGINT", "amount": "DECIMAL(12,2)"}
EXAMPLES = ("compact-orders.yaml", "observe-orders.yaml")


def commands(lab: Lab, directory: Path, page: str, heading: str, **files: Object) -> str:
    """Runs the commands below a heading, beside `<name>.yaml` of each of `files`. Returns what they have printed."""
    for name, manifest in files.items():
        (directory / f"{name}.yaml").write_text(yaml.safe_dump(manifest))
    (directory / "examples").mkdir(exist_ok=True)
    for name in EXAMPLES:
        text = (CHECKOUT / "examples" / name).read_text()
        (directory / "examples" / name).write_text(text.replace("namespace: shop", f"namespace: {lab.namespace}"))
    done = subprocess.run(
        [
            "bash",
            "-euo",
            "pipefail",
            "-c",
            steps_of(page, {"-n shop": f"-n {lab.namespace}"}, heading=heading).commands,
        ],
        cwd=directory,
        env=dict(lab.env),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def part_of(page: str, heading: str) -> Mapping[str, Any]:
    """The `spec` of the first block of YAML below a heading."""
    spec: Mapping[str, Any] = yaml.safe_load(blocks_below(page, heading, "yaml")[0])["spec"]
    return spec


@pytest.fixture
def orders(lab: Lab) -> Object:
    """A table of the pages, applied and Ready."""
    made = lab.table("orders", COLUMNS, keys=["order_id"], bucket={"type": "Fixed", "fixed": {"count": 2}})
    lab.kubectl.apply(made)
    lab.ready("orders")
    return made


def edited(table: Object, spec: Mapping[str, Any]) -> Object:
    """The table with a part of a page."""
    found = deepcopy(table)
    found["spec"] |= spec
    return found


def user_runs(lab: Lab) -> list[Object]:
    return [run for run in lab.runs("orders") if run["metadata"]["name"].startswith("orders-compact-")]


@pytest.mark.long
def test_sizes_of_the_page_are_effective_and_explained(lab: Lab, orders: Object, tmp_path: Path) -> None:
    page = "docs/howto-size-spark.md"
    used = commands(lab, tmp_path, page, "## 1. Look at what runs have used")
    assert [line.split()[1:3] for line in used.splitlines() if line.startswith("orders-provision")] == [
        ["Provision", "Local"]
    ]
    assert '"memory":"1536Mi"' in used

    table = edited(orders, part_of(page, "## 2. Set the sizes"))
    commands(lab, tmp_path, page, "## 3. See that it worked", orders=table)
    lab.kubectl.until(
        "paimontable", "orders", lambda o: effective(o).get("driver") == DRIVER, what="of the sizes of the page"
    )
    (run,) = user_runs(lab)
    lab.kubectl.until_condition(run["metadata"]["name"], "Succeeded", "True", kind="paimonrun")
    done = lab.kubectl.get("paimonrun", run["metadata"]["name"]) or {}
    assert done["status"]["spark"]["mode"] == "Local"
    assert done["status"]["spark"]["message"].startswith("mode Auto (Table): ")
    assert [each["memory"] for each in done["status"]["attempts"]] == ["4096Mi"]


DRIVER = {"cores": 2, "memory": "4Gi", "scratch": "10Gi", "source": "Table"}


def effective(found: Object | None) -> dict[str, Any]:
    return ((found or {}).get("status") or {}).get("effective") or {}


def test_schedules_of_the_page_are_in_the_status_and_a_run_starts_at_once(
    lab: Lab, orders: Object, tmp_path: Path
) -> None:
    page = "docs/howto-schedule.md"
    table = edited(orders, part_of(page, "## 1. Set the schedules of a table"))
    lab.kubectl.apply(table)
    lab.kubectl.until(
        "paimontable",
        "orders",
        lambda o: ((o or {})["status"].get("compaction") or {}).get("full", {}).get("next"),
        what="scheduled",
    )
    printed = commands(lab, tmp_path, page, "## 3. See when each block runs next", orders=table)
    assert "0 2 * * * Europe/Berlin  next: " in printed
    assert all(f"{word}:" in printed for word in ("Next", "Schedule"))

    commands(lab, tmp_path, page, "## 4. Run it now, or not at all")
    (run,) = user_runs(lab)
    lab.kubectl.until_condition(run["metadata"]["name"], "Succeeded", "True", kind="paimonrun")
    assert condition(lab.kubectl.get("paimontable", "orders"), "Suspended").get("status") != "True"


@pytest.fixture
def deleted(lab: Lab) -> Object:
    """A table that has loaded a file. Its objects are gone."""
    lab.land("in/1.json", [{"order_id": 1, "amount": "9.50"}])
    writes = [once("import", "in/1.json", mode="Append")]
    table = lab.table("orders", COLUMNS, writes=writes)  # (without keys, a second load would double the row)
    lab.kubectl.apply(table)
    lab.settled("orders")
    lab.kubectl.delete("paimontable", "orders", wait=True)
    lab.kubectl.delete("paimoncatalog", "lake", wait=True)
    lab.kubectl.run("delete", "paimonrun", "--all", "--timeout=100s", timeout=120)
    return table


@pytest.mark.long
def test_deleted_objects_that_are_applied_again_load_nothing_twice(lab: Lab, deleted: Object, tmp_path: Path) -> None:
    printed = commands(
        lab, tmp_path, "docs/howto-recover.md", "## Apply deleted objects again", catalog=lab.catalog(), orders=deleted
    )

    assert [line.split() for line in printed.splitlines() if line.startswith("Provision")] == [
        ["Provision", "false", "<none>"]
    ]
    lab.kubectl.until(
        "paimontable",
        "orders",
        lambda o: o and "onceHash" in o["status"]["writes"][0] and "activeRun" not in o["status"],
        what="known as loaded",
    )
    assert lab.runs("orders", "Write") == []
    assert lab.rows("orders") == [{"order_id": 1, "amount": "9.50"}]
