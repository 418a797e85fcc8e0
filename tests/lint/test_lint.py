"""`make lint` fails on each kind of offence and reports the file, the line and the remedy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools.lint.checks import findings

CHECKOUT = Path(__file__).parents[2]
LONG = "x" * 121

DOCUMENTS = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/tables.md",
    "docs/tasks/load.md",
    "examples/orders.yaml",
    "charts/paimon-operator/values.yaml",
    "charts/paimon-operator/README.md",
    "charts/paimon-operator/templates/NOTES.txt",
]


def plant(root: Path, file: str, text: str) -> None:
    """Writes `text` into a file below `root` and makes its folders."""
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.parametrize("file", DOCUMENTS)
def test_a_line_of_docs_over_120_characters_is_an_offence(tmp_path: Path, file: str) -> None:
    plant(tmp_path, file, f"short\n{LONG[1:]}\n{LONG}\n")
    (found,) = findings(tmp_path)
    assert str(found).startswith(f"{file}:3: the line has 121 characters, more than 120. Wrap it")


@pytest.mark.parametrize("file", ["docs/faults.jsonl", "operator/paimon_operator/notes.md", "build/README.md"])
def test_data_and_other_files_may_have_longer_lines(tmp_path: Path, file: str) -> None:
    plant(tmp_path, file, f"{LONG}\n")
    assert findings(tmp_path) == []


@pytest.mark.parametrize(
    "file", [*DOCUMENTS[:-2], "spark_apps/run.py", "charts/a/templates/_helpers.tpl", "charts/a/files/a.json"]
)
def test_a_word_that_has_a_usual_one_is_an_offence(tmp_path: Path, file: str) -> None:
    plant(tmp_path, file, "# The untold commend of the table.\n# It is Told in the log.\n")
    (found,) = findings(tmp_path)
    assert str(found) == f"{file}:2: 'told' is not the usual word. Write: reported, shown or named."


FOR_USERS = {
    "docs/spark.md": ("# The people.", "people"),
    "README.md": ("By hand, or by other hands.", "hands"),
    "crds/paimontables.yaml": ("    description: The operator tries again.", "tries"),
    "operator/paimon_operator/api/reasons/health.py": ('"The operator looks again."', "looks again"),
    "examples/orders.yaml": ("# a commit of others", "commit of others"),
    "charts/a/templates/NOTES.txt": ("This tells who leads.", "tells"),
    "docs/maintenance.md": ("The table claim, the volume claim and a claim.", "claim"),
    "docs/drift.md": ("The operator looks at it. A look finds all.", "a look"),
    "docs/windows.md": ("| by their retries | looks for drift |", "looks for drift"),
    "docs/metrics.md": ("Drivers do all work. Work that waits counts.", "work that waits counts"),
    "charts/a/values.yaml": ("# It counts as an observation, which is no look.", "no look"),
    "charts/a/files/alerts.yaml": ("  description: Due work of a table waits.", "due work"),
    "crds/paimoncatalogs.yaml": ("    message: exactly one of s3, hdfs, claim; the claim must not change", "claim"),
    "operator/paimon_operator/api/reasons/table.py": ('"Another table has the claim."', "claim"),
}


@pytest.mark.parametrize(("file", "text", "word"), [(file, *case) for file, case in FOR_USERS.items()], ids=FOR_USERS)
def test_a_word_that_only_users_may_not_read_is_an_offence_there(
    tmp_path: Path, file: str, text: str, word: str
) -> None:
    plant(tmp_path, file, f"{text}\n")
    plant(tmp_path, "operator/paimon_operator/kube/client.py", f"# {text}\n")
    (found,) = findings(tmp_path)
    assert str(found).startswith(f"{file}:1: {word!r} is not the usual word. Write: ")


@pytest.mark.parametrize(
    "text", ["`storage.claim` and `claim`", "storage: {claim: {name: lake-disk}}", "examples/claim.yaml"]
)
def test_the_field_claim_of_a_catalog_is_none(tmp_path: Path, text: str) -> None:
    plant(tmp_path, "docs/storage.md", f"{text}\n")
    assert findings(tmp_path) == []


@pytest.mark.parametrize(
    "package", ["operator/paimon_operator", "operator/paimon_contract", "operator/paimon_schema", "spark_apps"]
)
def test_a_class_name_used_twice_in_a_package_is_an_offence(tmp_path: Path, package: str) -> None:
    plant(tmp_path, f"{package}/api/status.py", "class Failure:\n    pass\n")
    plant(tmp_path, f"{package}/core/outcome.py", "import ast\n\n\nclass Failure(Exception):\n    pass\n")
    (found,) = findings(tmp_path)
    assert str(found).startswith(
        f"{package}/core/outcome.py:4: class Failure is also defined at {package}/api/status.py:1. Rename one"
    )


def test_a_class_name_may_occur_in_two_packages_and_inside_other_classes(tmp_path: Path) -> None:
    plant(tmp_path, "operator/paimon_operator/api/run.py", "class Run:\n    class Meta:\n        pass\n")
    plant(tmp_path, "operator/paimon_operator/api/table.py", "class Table:\n    class Meta:\n        pass\n")
    plant(tmp_path, "spark_apps/run.py", "class Run:\n    pass\n")
    assert findings(tmp_path) == []


def test_a_path_in_contributing_that_does_not_exist_is_an_offence(tmp_path: Path) -> None:
    plant(tmp_path, "operator/paimon_operator/core/run/pod.py", "")
    plant(tmp_path, "spark_apps/driver/main.py", "")
    plant(
        tmp_path, "CONTRIBUTING.md", "`core/run/`, `spark_apps/driver/main.py`\n`core/run/pods.py`, `a / b`, `<x>/y`\n"
    )
    (found,) = findings(tmp_path)
    assert str(found).startswith("CONTRIBUTING.md:2: core/run/pods.py does not exist. Name the place")


LINKS = {
    "[a](spark.md)": "spark.md does not exist",
    "[a\nb](../charts/)": "../charts/ does not exist",
    "[a](#write)": "this page has no heading #write",
    "[a](storage.md#the-s3)": "storage.md has no heading #the-s3",
    "[a](storage.md#s3-2)": "storage.md has no heading #s3-2",
}


@pytest.mark.parametrize(("link", "words"), LINKS.items(), ids=LINKS)
def test_a_link_that_leads_nowhere_is_an_offence(tmp_path: Path, link: str, words: str) -> None:
    plant(tmp_path, "docs/storage.md", "# S3\n\n## S3\n\n```\n# The S3\n```\n")
    plant(tmp_path, "docs/tables.md", f"# Writes\n\n{link}\n")
    (found,) = findings(tmp_path)
    line = 3 + link.count("\n")
    assert str(found) == f"docs/tables.md:{line}: {words}. Link to a page and a heading that exist."


def test_links_to_headings_files_and_other_servers_are_none(tmp_path: Path) -> None:
    plant(tmp_path, "docs/storage.md", "# `S3`: a [server](https://b.c)'s data\n\n## S3\n\n### S3\n")
    plant(tmp_path, "examples/orders.yaml", "a: 1\n")
    links = [
        "[a](docs/storage.md#s3-a-servers-data)", "[a](docs/storage.md#s3-1)", "[a](#quick-start)", "[a](examples/)",
        "[a](examples/orders.yaml)", "[a](https://b.c/d.md#e)", "`[a](b.md)`", "```\n[a](b.md)\n```",
    ]  # fmt: skip
    plant(tmp_path, "README.md", "# Quick start\n\n" + "\n".join(links) + "\n")
    assert findings(tmp_path) == []


OFFENCES = {
    'if run.spec.type == "CreateTag":\n    pass\n': "names the operation CreateTag",
    "from paimon_operator.core.operations.versions import create_tag\n": "imports the operation create_tag",
    "from paimon_operator.core.operations.versions.create_tag import job\n": "imports the operation create_tag",
    "import paimon_operator.core.operations.versions.create_tag\n": "imports the operation create_tag",
}


@pytest.mark.parametrize(("offence", "words"), OFFENCES.items(), ids=["by text", "module", "from module", "whole"])
def test_an_operation_named_outside_operations_is_an_offence(tmp_path: Path, offence: str, words: str) -> None:
    own = 'OPERATION = OperationSpec(type="CreateTag", order=60)\n'
    plant(tmp_path, "operator/paimon_operator/core/operations/versions/create_tag.py", own)
    plant(tmp_path, "operator/paimon_operator/core/table/plan.py", f"import ast\n{offence}")
    (found,) = findings(tmp_path)
    assert str(found).startswith(f"operator/paimon_operator/core/table/plan.py:2: {words}. State what is particular")


SPARK_OFFENCES = {
    'if job.operation == "CreateTag":\n    pass\n': "names the operation CreateTag",
    "from spark_apps.operations import create_tag\n": "imports the operation create_tag",
    "from spark_apps.operations.create_tag import run\n": "imports the operation create_tag",
}


@pytest.mark.parametrize(("offence", "words"), SPARK_OFFENCES.items(), ids=["by text", "module", "from module"])
def test_an_operation_named_outside_operations_of_the_spark_side_is_an_offence(
    tmp_path: Path, offence: str, words: str
) -> None:
    own = 'OPERATION = OperationSpec(type="CreateTag", order=60)\n'
    plant(tmp_path, "operator/paimon_operator/core/operations/versions/create_tag.py", own)
    plant(tmp_path, "spark_apps/operations/create_tag.py", 'NAME = "CreateTag"\n')
    plant(tmp_path, "spark_apps/catalog/session.py", f"import ast\n{offence}")
    (found,) = findings(tmp_path)
    assert str(found).startswith(f"spark_apps/catalog/session.py:2: {words}. State what is particular")


def test_operations_may_name_themselves_and_others_may_use_the_registry(tmp_path: Path) -> None:
    own = 'OPERATION = OperationSpec(type="CreateTag", order=60)\nCreateTag = "CreateTag"\n'
    plant(tmp_path, "operator/paimon_operator/core/operations/versions/create_tag.py", own)
    allowed = "from paimon_operator.core.operations import registry\n"
    plant(tmp_path, "operator/paimon_operator/core/table/plan.py", allowed)
    choice = 'class OnEdit(StrEnum):\n    """What an edit does."""\n\n    CREATE = "CreateTag"\n'
    plant(tmp_path, "operator/paimon_operator/api/table/spec.py", choice)
    assert findings(tmp_path) == []


@pytest.mark.parametrize("file", ["operator/paimon_operator/api/reasons.py", "tests/e2e/lab.py", "tools/a.py"])
def test_a_file_of_more_than_400_lines_is_an_offence(tmp_path: Path, file: str) -> None:
    plant(tmp_path, file, "x = 1\n" * 401)
    plant(tmp_path, "spark_apps/longest.py", "x = 1\n" * 400)
    (found,) = findings(tmp_path)
    assert str(found).startswith(f"{file}:401: the file has 401 lines, more than 400. Split it")


def function(lines: int) -> str:
    """A method with `lines` lines and a docstring of two lines."""
    head = 'class A:\n    async def run(self):\n        """Runs.\n        """\n'
    return head + "        x = 1\n" * (lines - 1)


@pytest.mark.parametrize("file", ["operator/paimon_operator/app.py", "spark_apps/run.py", "tools/engines/fetch.py"])
def test_a_function_of_more_than_25_lines_is_an_offence(tmp_path: Path, file: str) -> None:
    plant(tmp_path, file, function(26))
    (found,) = findings(tmp_path)
    assert str(found).startswith(f"{file}:2: run has 26 lines, more than 25. Give a part")


def test_a_function_may_have_25_lines_and_a_docstring_and_one_of_a_test_more(tmp_path: Path) -> None:
    plant(tmp_path, "operator/paimon_operator/app.py", function(25))
    plant(tmp_path, "tests/core/test_app.py", function(60))
    assert findings(tmp_path) == []


@pytest.mark.parametrize(("text", "code"), [("short\n", 0), (f"{LONG}\n", 1)])
def test_the_program_prints_the_offences_and_its_exit_code_reports_them(tmp_path: Path, text: str, code: int) -> None:
    plant(tmp_path, "README.md", text)
    done = subprocess.run(
        [sys.executable, "-m", "tools.lint", str(tmp_path)], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.count("README.md:1: ")) == (code, code), done.stderr


def test_make_lint_runs_the_program_and_the_import_contracts() -> None:
    recipe = (CHECKOUT / "Makefile").read_text().partition("\nlint: ")[2].partition("\n\n")[0]
    assert "-m tools.lint" in recipe
    assert "lint-imports" in recipe
