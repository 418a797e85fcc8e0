"""The questions of `helm test` about the operator's rights, and their expected answers."""

from __future__ import annotations

import pytest

from paimon_operator.installation.rights import EVERYWHERE, NEVER, Right, questions, where_watched

LEASE, HOME = "paimon-operator", "paimon-system"


def expected_answers(*watched: str, home: str = HOME) -> dict[tuple[str, str], set[bool]]:
    """The expected answers by right and namespace."""
    found: dict[tuple[str, str], set[bool]] = {}
    for question in questions(lease=LEASE, home=home, watched=watched):
        found.setdefault((str(question.right), question.namespace), set()).add(question.allowed)
    return found


@pytest.mark.parametrize("watched", [(), ("shop",), ("shop", "bank"), (HOME,), ("default", "kube-system")])
@pytest.mark.parametrize("home", [HOME, "default"])
def test_no_right_is_both_required_and_forbidden(watched: tuple[str, ...], home: str) -> None:
    assert [key for key, allowed in expected_answers(*watched, home=home).items() if len(allowed) > 1] == []


def test_an_operator_for_all_namespaces_needs_its_rights_in_all_of_them() -> None:
    expected = expected_answers()
    assert all(expected[str(right), EVERYWHERE] == {True} for right in where_watched(LEASE))


def test_an_operator_for_one_namespace_has_rights_in_that_namespace_only() -> None:
    expected = expected_answers("shop")
    assert expected["create pods", "shop"] == {True}
    for elsewhere in (EVERYWHERE, HOME, "default", "kube-system"):
        assert expected["create pods", elsewhere] == {False}
        assert expected["get paimontables.paimon-operator.dev", elsewhere] == {False}


def test_secrets_are_forbidden_everywhere() -> None:
    expected = expected_answers("shop")
    for namespace in ("shop", EVERYWHERE, HOME, "default", "kube-system"):
        assert expected["get secrets", namespace] == expected["list secrets", namespace] == {False}


def test_the_lease_is_the_only_right_in_the_operators_own_namespace() -> None:
    expected = expected_answers("shop")
    granted = {right for (right, namespace), allowed in expected.items() if namespace == HOME and allowed == {True}}
    assert granted == {
        "create leases.coordination.k8s.io",
        "get leases.coordination.k8s.io paimon-operator",
        "update leases.coordination.k8s.io paimon-operator",
    }


def test_a_right_is_shown_as_kubectl_writes_it() -> None:
    assert str(Right("patch", "paimon-operator.dev", "paimontables/status")) == (
        "patch paimontables.paimon-operator.dev/status"
    )
    assert str(Right("get", "", "pods/exec")) == "get pods/exec"
    assert "create pods/exec" in map(str, NEVER)
