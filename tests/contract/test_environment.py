"""Both sides and entrypoint.sh use only environment variables of the contract, by its constants."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from paimon_contract import environment

CHECKOUT = Path(__file__).parents[2]
NAMES = {name: value for name, value in vars(environment).items() if name.isupper()}
SPARK_SIDE = sorted((CHECKOUT / "spark_apps").rglob("*.py"))
OPERATOR_SIDE = [
    file
    for package in ("catalog", "launch", "storage")
    for file in sorted((CHECKOUT / "operator" / "paimon_operator" / "core" / package).rglob("*.py"))
]
PODS = sorted((CHECKOUT / "tests" / "core").glob("*/golden/*.yaml"))
SHELL = "LC_ALL"
"""The only variable in entrypoint.sh that belongs to the shell."""


def named_in_shell(text: str) -> set[str]:
    """Variables with upper-case names that a shell script reads, sets or unsets."""
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    read = re.findall(r"\$\{?(_?[A-Z][A-Z0-9_]*)", code)
    assigned = re.findall(r"(?:^|\s)(_?[A-Z][A-Z0-9_]*)=", code)
    unset = [name for line in re.findall(r"^unset (.*)$", code, flags=re.MULTILINE) for name in line.split()]
    return {*read, *assigned, *unset}


def literals(file: Path) -> Iterator[str]:
    """All string literals of a Python file."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def keys_of_environ(file: Path) -> Iterator[ast.expr]:
    """Expressions of the keys that a file reads from os.environ."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "os.environ":
            yield node.slice
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("os.environ.get", "os.getenv"):
            yield node.args[0]


def environments(node: object) -> Iterator[str]:
    """Names of all `env` entries of a rendered object."""
    if isinstance(node, dict):
        yield from (entry["name"] for entry in node.get("env", []))
        for value in node.values():
            yield from environments(value)
    if isinstance(node, list):
        for value in node:
            yield from environments(value)


NAME_OF_A_USER = {"LD_PRELOAD", "NSS_WRAPPER_GROUP", "NSS_WRAPPER_PASSWD"}
"""Variables of the C library, by which the entrypoint names a user that the image does not know."""


def test_the_value_of_a_constant_equals_its_name() -> None:
    differing = {name: value for name, value in NAMES.items() if value != name}
    assert differing == {"SPARK_JAVA_OPT": "SPARK_JAVA_OPT_", "SPARK_AUTH_SECRET": "_SPARK_AUTH_SECRET"}


def test_entrypoint_uses_the_names_of_the_contract_only() -> None:
    text = (CHECKOUT / "spark_apps" / "entrypoint.sh").read_text(encoding="utf-8")
    assert named_in_shell(text) - {SHELL} - NAME_OF_A_USER <= set(NAMES.values())


def test_the_scan_of_entrypoint_finds_every_variable() -> None:
    script = 'A=1\n# ${B}\nexport C="${D:-$E}"\nunset F G\n[ "$H" = 1 ]'
    assert named_in_shell(script) == {"A", "C", "D", "E", "F", "G", "H"}


@pytest.mark.parametrize("file", [*SPARK_SIDE, *OPERATOR_SIDE], ids=lambda file: str(file.relative_to(CHECKOUT)))
def test_no_module_contains_the_name_of_a_variable_as_a_literal(file: Path) -> None:
    assert set(literals(file)) & set(NAMES.values()) == set()


@pytest.mark.parametrize("file", SPARK_SIDE, ids=lambda file: str(file.relative_to(CHECKOUT)))
def test_the_spark_side_reads_only_variables_of_the_contract(file: Path) -> None:
    aliases = {"place", "DIRECTORY_VARIABLE"}  # a name in SHARED_SECRETS, and a constant of the contract
    read = {ast.unparse(key) for key in keys_of_environ(file)}
    assert read - aliases <= {f"environment.{name}" for name in NAMES}


@pytest.mark.parametrize("file", PODS, ids=lambda file: file.stem)
def test_rendered_pods_have_only_variables_of_the_contract(file: Path) -> None:
    assert set(environments(yaml.safe_load(file.read_text(encoding="utf-8")))) <= set(NAMES.values())


@pytest.mark.parametrize("file", [each for each in PODS if "executor" not in each.stem], ids=lambda file: file.stem)
def test_the_policy_for_the_operators_account_accepts_the_variables_of_rendered_pods(file: Path) -> None:
    chart = CHECKOUT / "charts" / "paimon-operator" / "templates" / "admission-operator.yaml"
    accepted = set(re.findall(r"'([A-Z][A-Z0-9_]+)'", chart.read_text(encoding="utf-8")))
    pod = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert set(environments(pod)) <= accepted
