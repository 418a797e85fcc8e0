"""The security of the rendered chart, and its admission by a real API server."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.apiserver.api import apply
from tests.apiserver.rights import rendered as chart
from tests.cluster import programs
from tests.cluster.apiserver import ApiServer

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "charts" / "paimon-operator"
Object = dict[str, Any]


def rendered(**values: Any) -> list[Object]:
    return chart("paimon-system", **values)


def of_kind(documents: list[Object], *kinds: str) -> Iterator[Object]:
    return (document for document in documents if document["kind"] in kinds)


def rules(documents: list[Object]) -> list[Object]:
    return [rule for role in of_kind(documents, "Role", "ClusterRole") for rule in role["rules"]]


@pytest.mark.parametrize("values", [{}, {"allNamespaces": True}, {"watchNamespaces": ["shop", "bank"]}], ids=str)
def test_the_operator_has_no_right_on_secrets_and_no_wildcard(values: Object) -> None:
    for rule in rules(rendered(**values)):
        assert "secrets" not in rule["resources"]
        assert "*" not in rule["verbs"] + rule["resources"] + rule["apiGroups"]


def test_with_two_watched_namespaces_the_operator_has_rights_only_there() -> None:
    documents = rendered(watchNamespaces=["shop", "bank"])

    bound = {binding["roleRef"]["name"] for binding in of_kind(documents, "ClusterRoleBinding")}
    (identity,) = [role for role in of_kind(documents, "ClusterRole") if role["metadata"]["name"] in bound]
    assert identity["rules"] == [
        {"apiGroups": [""], "resources": ["namespaces"], "resourceNames": ["kube-system"], "verbs": ["get"]},
        {"apiGroups": ["authentication.k8s.io"], "resources": ["tokenreviews"], "verbs": ["create"]},
    ]
    namespaces = {role["metadata"]["namespace"] for role in of_kind(documents, "Role")}
    assert namespaces == {"shop", "bank", "paimon-system"}


def test_the_chart_has_the_committed_crds_and_keeps_them() -> None:
    committed = {path.name: yaml.safe_load(path.read_text()) for path in (ROOT / "crds").glob("*.yaml")}

    crds = {
        f"paimon-operator.dev_{crd['spec']['names']['plural']}.yaml": crd
        for crd in of_kind(rendered(), "CustomResourceDefinition")
    }

    assert {name: crd["spec"] for name, crd in crds.items()} == {name: crd["spec"] for name, crd in committed.items()}
    assert all(crd["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep" for crd in crds.values())


def test_workload_accounts_have_no_token_and_only_drivers_of_executors_have_a_role() -> None:
    documents = rendered(workloads={"namespaces": ["shop"]})

    accounts = [a for a in of_kind(documents, "ServiceAccount") if a["metadata"]["namespace"] == "shop"]
    tokens = {a["metadata"]["name"]: a["automountServiceAccountToken"] for a in accounts}
    assert tokens == {"paimon-spark": False, "paimon-driver": False}
    bound = [s["name"] for b in of_kind(documents, "RoleBinding", "ClusterRoleBinding") for s in b["subjects"]]
    assert "paimon-spark" not in bound
    (role,) = [role for role in of_kind(documents, "Role") if role["metadata"]["namespace"] == "shop"]
    verbs = ["get", "list", "watch", "create", "delete", "deletecollection"]
    assert role["rules"] == [{"apiGroups": [""], "resources": ["pods"], "verbs": verbs}]


def test_without_an_account_for_drivers_there_is_neither_role_nor_policy() -> None:
    documents = rendered(workloads={"namespaces": ["shop"], "driverServiceAccountName": ""})

    accounts = [a for a in of_kind(documents, "ServiceAccount") if a["metadata"]["namespace"] == "shop"]
    assert [a["metadata"]["name"] for a in accounts] == ["paimon-spark"]
    assert not [role for role in of_kind(documents, "Role") if role["metadata"]["namespace"] == "shop"]
    policies = of_kind(documents, "ValidatingAdmissionPolicy")
    assert not [policy for policy in policies if "executors" in policy["metadata"]["name"]]


def test_the_policy_of_runs_denies_in_watched_namespaces_and_can_be_disabled() -> None:
    policy, everywhere = _policy_of_runs(allNamespaces=True)
    assert policy["spec"]["failurePolicy"] == "Fail"
    assert everywhere["spec"] == {"policyName": policy["metadata"]["name"], "validationActions": ["Deny"]}

    _, some = _policy_of_runs(watchNamespaces=["shop", "bank"])
    (selected,) = some["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"]
    assert (selected["operator"], selected["values"]) == ("In", ["shop", "bank"])
    assert _policy_of_runs(admission={"runs": False}) == []


def _policy_of_runs(**values: Any) -> list[Object]:
    """Returns the policy and its binding."""
    kinds = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
    return [each for each in of_kind(rendered(**values), *kinds) if each["metadata"]["name"].endswith("-runs")]


def test_a_wrong_value_is_refused_by_its_schema() -> None:
    with pytest.raises(subprocess.CalledProcessError) as refused:
        rendered(workers=0)
    assert "workers" in refused.value.stderr


def test_the_readme_of_the_chart_has_the_values_and_their_comments() -> None:
    (helm_docs,) = programs.build(["helm-docs"])
    command = [str(helm_docs), f"--chart-search-root={CHART.parent}", "--dry-run", "--log-level=warning"]
    printed = subprocess.run(command, text=True, capture_output=True, check=True).stdout
    assert (CHART / "README.md").read_text().strip() == printed.strip(), "run `make generate`"


EVERYTHING: Object = {
    "replicas": 3,
    "watchNamespaces": ["shop"],
    "networkPolicy": {
        "enabled": True,
        "metricsFrom": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}],
        "healthFrom": [{"ipBlock": {"cidr": "10.0.0.0/8"}}],
        "apiServer": {"to": [{"ipBlock": {"cidr": "10.0.0.1/32"}}]},
        "drivers": {"enabled": True, "egress": [{"ports": [{"port": 443}]}]},
    },
    "commonLabels": {"team": "data"},
    "podLabels": {"tier": "control"},
    "topologySpreadConstraints": [
        {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}
    ],
    "tolerations": [{"key": "control", "operator": "Exists", "effect": "NoSchedule"}],
    "priorityClassName": "system-cluster-critical",
}


@pytest.mark.parametrize("values", [{}, EVERYTHING], ids=["defaults", "every value"])
def test_an_api_server_admits_all_objects_under_pod_security_restricted(api_server: ApiServer, values: Object) -> None:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    spaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
        for name in ("paimon-system", "shop")
    ]
    apply(api_server.kubeconfig, *spaces)

    documents = rendered(workloads={"namespaces": ["shop"]}, **values)
    # a dry run of a Pod needs its account
    apply(api_server.kubeconfig, *of_kind(documents, "ServiceAccount"))
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "as-deployed", "namespace": "paimon-system"},
            "spec": deployment["spec"]["template"]["spec"],
        }
        for deployment in of_kind(documents, "Deployment")
    ]
    flags = ["--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict", "-f", "-"]
    done = subprocess.run(
        [str(programs.KUBECTL.path), f"--kubeconfig={api_server.kubeconfig}", "apply", *flags],
        input=yaml.safe_dump_all([*documents, *pods]),
        text=True,
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "would violate PodSecurity" not in done.stderr
    assert {"Pod", "Deployment", "Service"} <= {document["kind"] for document in documents}
