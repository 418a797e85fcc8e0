"""The import contracts of pyproject.toml, checked on a copy of the packages with one offence."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")


def lint_copy(folder: Path) -> tuple[int, str]:
    """Exit code and output of lint-imports for the packages below `folder`."""
    done = subprocess.run(
        [str(LINT_IMPORTS), "--no-cache"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(folder / "operator"), str(folder)])},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the packages and of their contracts."""
    for folder in ("operator", "spark_apps", "tools"):
        shutil.copytree(CHECKOUT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__", "*.json"))
    shutil.copy(CHECKOUT / "pyproject.toml", tmp_path)
    return tmp_path


def test_a_copy_without_an_offence_breaks_no_contract(copy: Path) -> None:
    code, output = lint_copy(copy)
    assert (code, ", 0 broken." in output) == (0, True), output


OFFENCES = {
    "a new module directly in core": (
        "operator/paimon_operator/core/extra.py",
        '"""New."""\n',
        ["Layers of the core BROKEN", "paimon_operator.core.extra"],
    ),
    "a new module directly in spark_apps": (
        "spark_apps/extra.py",
        '"""New."""\n',
        ["Layers of spark_apps BROKEN", "spark_apps.extra"],
    ),
    "a lower layer of the core imports a higher one": (
        "operator/paimon_operator/core/spec/extra.py",
        "import paimon_operator.core.table.plan\n",
        ["Layers of the core BROKEN", "paimon_operator.core.spec is not allowed to import paimon_operator.core.table"],
    ),
    "the table controller imports the run controller": (
        "operator/paimon_operator/core/table/extra.py",
        "import paimon_operator.core.run.machine\n",
        ["Layers of the core BROKEN", "paimon_operator.core.table is not allowed to import paimon_operator.core.run"],
    ),
    "the runtime imports kube": (
        "operator/paimon_operator/runtime/extra.py",
        "import paimon_operator.kube.lease\n",
        ["Layers of the operator BROKEN", "paimon_operator.runtime is not allowed to import paimon_operator.kube"],
    ),
    "the core reads the clock": (
        "operator/paimon_operator/core/spec/extra.py",
        "import time\n",
        ["The core has no clock and no I/O BROKEN", "paimon_operator.core.spec.extra -> time"],
    ),
    "kube uses kopf": (
        "operator/paimon_operator/kube/extra.py",
        "import kopf\n",
        ["Only runtime uses kopf BROKEN", "paimon_operator.kube.extra -> kopf"],
    ),
    "an operation imports one of another group": (
        "operator/paimon_operator/core/operations/data/extra.py",
        "import paimon_operator.core.operations.maintenance.compact\n",
        ["Groups of operations do not depend on each other BROKEN", "paimon_operator.core.operations.data.extra"],
    ),
    "spark_apps imports the operator": (
        "spark_apps/operations/extra.py",
        "import paimon_operator.errors\n",
        ["spark_apps does not import the operator or the tools BROKEN", "spark_apps.operations.extra"],
    ),
}


@pytest.mark.parametrize("name", OFFENCES)
def test_an_offence_breaks_its_contract(copy: Path, name: str) -> None:
    file, text, expected = OFFENCES[name]
    (copy / file).write_text(text)
    code, output = lint_copy(copy)
    assert code == 1, output
    assert [part for part in expected if part not in output] == [], output
