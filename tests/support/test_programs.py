"""The programs of the node: pinned versions, and the names of their binaries."""

from __future__ import annotations

import pytest

from tests.cluster.programs import NODE, PROGRAMS, Program


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=lambda program: program.name)
def test_a_program_has_a_version_in_its_modules_go_mod(program: Program) -> None:
    assert program.version.startswith("v")


@pytest.mark.parametrize(
    ("module", "package", "name"),
    [
        ("k8s.io/kubernetes", "/cmd/kubectl", "kubectl"),
        ("go.etcd.io/etcd/server/v3", "", "server"),
        ("helm.sh/helm/v3", "/cmd/helm", "helm"),
    ],
)
def test_go_names_a_program_by_the_last_part_of_its_package_without_the_version(
    module: str, package: str, name: str
) -> None:
    assert Program("any", "node", module, package).built_as == name


def test_the_node_needs_two_modules() -> None:
    assert {program.directory for program in NODE.values()} == {"node", "versitygw"}
