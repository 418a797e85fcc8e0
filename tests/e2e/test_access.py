"""A user with the verb compact on one table can neither expire it nor compact another table."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.e2e.lab import GROUP, Lab
from tests.support.kubectl import Kubectl, Object, RefusedError

RBAC = {"apiGroup": "rbac.authorization.k8s.io"}


def test_the_verb_compact_on_one_table_gives_no_other_right(lab: Lab, tmp_path: Path) -> None:
    for name in ("orders", "payroll"):
        lab.kubectl.apply(lab.table(name, {"id": "BIGINT"}, keys=["id"]))
    lab.kubectl.apply(*compaction_rights(lab, "orders"))
    nightly = kubectl_of_account(lab, "nightly", tmp_path)
    lab.ready("orders")

    nightly.run("create", "-f", "-", stdin=_run(lab, "mine", "orders", "Compact"))
    lab.kubectl.until_condition("mine", "Succeeded", "True", kind="paimonrun")
    done = nightly.get("paimonrun", "mine")
    assert done is not None
    assert done["status"]["reason"]["trigger"] == "User"

    for table, type_ in [("orders", "ExpireSnapshots"), ("payroll", "Compact")]:
        with pytest.raises(RefusedError, match=f"verb {type_.lower()} on paimontables/{table} is missing"):
            nightly.run("create", "-f", "-", stdin=_run(lab, "other", table, type_))
    for refused in [
        ("delete", "paimonrun", "mine"),
        ("patch", "paimontable", "orders", "--type=merge", "-p", "{}"),
        ("get", "secret", "lake-s3"),
    ]:
        with pytest.raises(RefusedError, match="orbidden"):
            nightly.run(*refused)

    # The garbage collector, which is neither the operator nor an administrator, takes the last finalizer off.
    lab.kubectl.run("delete", "paimonrun", "mine", "--cascade=foreground", "--timeout=300s", timeout=330)
    assert lab.kubectl.get("paimonrun", "mine") is None


def _run(lab: Lab, name: str, table: str, type_: str) -> str:
    member = {"compact": {"strategy": "Full"}} if type_ == "Compact" else {}
    metadata = {"name": name, "namespace": lab.namespace}
    spec = {"tableRef": {"name": table}, "type": type_, **member}
    return yaml.safe_dump({"apiVersion": GROUP, "kind": "PaimonRun", "metadata": metadata, "spec": spec})


def compaction_rights(lab: Lab, table: str) -> list[Object]:
    """Returns an account with the Role of `examples/access.yaml`."""
    group, metadata = GROUP.partition("/")[0], {"name": "nightly", "namespace": lab.namespace}
    rules = [
        {"apiGroups": [group], "resources": ["paimonruns"], "verbs": ["create", "get"]},
        {"apiGroups": [group], "resources": ["paimontables"], "resourceNames": [table], "verbs": ["compact"]},
    ]
    api = "rbac.authorization.k8s.io/v1"
    role = {"apiVersion": api, "kind": "Role", "metadata": metadata, "rules": rules}
    binding = {
        "apiVersion": api,
        "kind": "RoleBinding",
        "metadata": metadata,
        "roleRef": {**RBAC, "kind": "Role", "name": "nightly"},
        "subjects": [{"kind": "ServiceAccount", **metadata}],
    }
    return [{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}, role, binding]


def kubectl_of_account(lab: Lab, name: str, directory: Path) -> Kubectl:
    """Returns a kubectl with a token of the account and without the administrator's credentials."""
    token = lab.kubectl.run("create", "token", name).strip()
    view = yaml.safe_load(lab.kubectl.run("config", "view", "--raw", "-o", "yaml"))
    for user in view["users"]:
        user["user"] = {"token": token}
    file = directory / f"{name}.kubeconfig"
    file.write_text(yaml.safe_dump(view))
    return Kubectl(namespace=lab.namespace, env={**lab.env, "KUBECONFIG": str(file)})
