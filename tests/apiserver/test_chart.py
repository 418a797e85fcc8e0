"""The chart renders what a security team would sign, and a real API server takes it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster import programs
from tests.cluster.apiserver import ApiServer

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "charts" / "paimon-operator"
Object = dict[str, Any]


def rendered(**values: Any) -> list[Object]:
    (helm,) = programs.build(["helm"])
    command = [str(helm), "template", "paimon-operator", str(CHART), "--namespace", "paimon-system"]
    # A helm of our own build does not know which Kubernetes it was made for; offline it must be told.
    flags = ["--kube-version", "1.34.4", "--values", "-"]
    text = subprocess.run(
        [*command, *flags], input=yaml.safe_dump(values), text=True, capture_output=True, check=True
    ).stdout
    return [document for document in yaml.safe_load_all(text) if document]


def of_kind(documents: list[Object], *kinds: str) -> Iterator[Object]:
    return (document for document in documents if document["kind"] in kinds)


def rules(documents: list[Object]) -> list[Object]:
    return [rule for role in of_kind(documents, "Role", "ClusterRole") for rule in role["rules"]]


@pytest.mark.parametrize("values", [{}, {"watchNamespaces": ["shop", "bank"]}], ids=["everywhere", "two namespaces"])
def test_the_operator_may_not_touch_secrets_nor_use_wildcards(values: Object) -> None:
    for rule in rules(rendered(**values)):
        assert "secrets" not in rule["resources"]
        assert "*" not in rule["verbs"] + rule["resources"] + rule["apiGroups"]


def test_watching_two_namespaces_gives_rights_in_these_and_nothing_over_the_cluster() -> None:
    documents = rendered(watchNamespaces=["shop", "bank"])

    bound = {binding["roleRef"]["name"] for binding in of_kind(documents, "ClusterRoleBinding")}
    (identity,) = [role for role in of_kind(documents, "ClusterRole") if role["metadata"]["name"] in bound]
    assert identity["rules"] == [
        {"apiGroups": [""], "resources": ["namespaces"], "resourceNames": ["kube-system"], "verbs": ["get"]}
    ]
    namespaces = {role["metadata"]["namespace"] for role in of_kind(documents, "Role")}
    assert namespaces == {"shop", "bank", "paimon-system"}


def test_the_chart_carries_the_committed_crds_and_keeps_them() -> None:
    committed = {path.name: yaml.safe_load(path.read_text()) for path in (ROOT / "crds").glob("*.yaml")}

    crds = {
        f"paimon-operator.dev_{crd['spec']['names']['plural']}.yaml": crd
        for crd in of_kind(rendered(), "CustomResourceDefinition")
    }

    assert {name: crd["spec"] for name, crd in crds.items()} == {name: crd["spec"] for name, crd in committed.items()}
    assert all(crd["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep" for crd in crds.values())


def test_workload_accounts_have_no_token_and_no_role() -> None:
    documents = rendered(workloads={"namespaces": ["shop"]})

    (account,) = [a for a in of_kind(documents, "ServiceAccount") if a["metadata"]["namespace"] == "shop"]
    assert account["automountServiceAccountToken"] is False
    bound = [s["name"] for b in of_kind(documents, "RoleBinding", "ClusterRoleBinding") for s in b["subjects"]]
    assert account["metadata"]["name"] not in bound


def test_the_policy_of_runs_denies_where_the_operator_watches_and_can_be_left_out() -> None:
    policies = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
    policy, everywhere = of_kind(rendered(), *policies)
    assert policy["spec"]["failurePolicy"] == "Fail"
    assert everywhere["spec"] == {"policyName": policy["metadata"]["name"], "validationActions": ["Deny"]}

    _, some = of_kind(rendered(watchNamespaces=["shop", "bank"]), *policies)
    (selected,) = some["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"]
    assert (selected["operator"], selected["values"]) == ("In", ["shop", "bank"])
    assert list(of_kind(rendered(admission={"runs": False}), *policies)) == []


def test_a_wrong_value_is_refused_by_its_schema() -> None:
    with pytest.raises(subprocess.CalledProcessError) as refused:
        rendered(workers=0)
    assert "workers" in refused.value.stderr


def test_an_api_server_takes_everything_under_pod_security_restricted(api_server: ApiServer) -> None:
    (kubectl,) = programs.build(["kubectl"])
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    spaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
        for name in ("paimon-system", "shop")
    ]
    base = [str(kubectl), f"--kubeconfig={api_server.kubeconfig}", "apply", "--server-side", "--force-conflicts"]
    subprocess.run([*base, "-f", "-"], input=yaml.safe_dump_all(spaces), text=True, check=True, capture_output=True)

    documents = rendered(workloads={"namespaces": ["shop"]})
    # A Pod's account must exist before the Pod can even be tried.
    accounts = yaml.safe_dump_all([*of_kind(documents, "ServiceAccount")])
    subprocess.run([*base, "-f", "-"], input=accounts, text=True, check=True, capture_output=True)
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "as-deployed", "namespace": "paimon-system"},
            "spec": deployment["spec"]["template"]["spec"],
        }
        for deployment in of_kind(documents, "Deployment")
    ]
    text = yaml.safe_dump_all([*documents, *pods])
    done = subprocess.run(
        [*base, "--dry-run=server", "--validate=strict", "-f", "-"],
        input=text,
        text=True,
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "would violate PodSecurity" not in done.stderr
