"""Pods that the admission policy of drivers refuses, each with the reason in its answer."""

# ruff: noqa: E501 - a decision table: one row is one line

from __future__ import annotations

from tests.support.executor_namespace import DEADLINE_S, IMAGE
from tests.support.pod_edits import (
    Edit,
    add_annotations,
    from_secret,
    in_container,
    in_metadata,
    in_pod_security,
    in_security,
    in_spec,
    labelled,
    labels,
    mount,
    owned_by,
    token,
    without_deadline,
)

WEAK_SANDBOX = "runc"
ANOTHER_CONTAINER = {"name": "more", "image": IMAGE, "command": ["sh"]}
A_POD = {"kind": "Pod", "name": "p", "uid": "0000"}
NOT_ITS_MOUNT = "an executor may mount"
NOT_ITS_SHAPE = "one container"
WEAK = "must pass Pod Security restricted"
NOT_ITS_LABEL = "has the labels that the operator has given"
NOT_ITS_ANNOTATION = "has the annotations that the operator has given"
EITHER = "denied request: an executor"
"""Two policies refuse the Pod, and the answer has the message of one of them."""
NOT_ITS_IMAGE = "the Spark image that the operator has given"

REFUSED: list[tuple[str, Edit, str]] = [
    ("another Secret as a volume", mount("secret", secretName="bank"), NOT_ITS_MOUNT),
    ("its own Secret's neighbour by prefix", mount("secret", secretName="lake-s3-root"), NOT_ITS_MOUNT),
    ("another Secret in its environment", from_secret("bank"), "environment may take"),
    ("another key of its own Secret", from_secret("lake-s3", "root-password"), "environment may take"),
    ("its own Secret as a volume, with keys that it was not given", mount("secret", secretName="lake-s3"), NOT_ITS_MOUNT),
    ("a weak runtime class", in_spec(runtimeClassName=WEAK_SANDBOX), "runtime class"),
    ("a priority of the system", in_spec(priorityClassName="system-node-critical"), "no system priority"),
    ("a device", in_spec(resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}]), "claims no devices"),
    ("a whole Secret in its environment", in_container(envFrom=[{"secretRef": {"name": "bank"}}]), "must not use envFrom"),
    ("its own Secret whole", in_container(envFrom=[{"secretRef": {"name": "lake-s3"}}]), "must not use envFrom"),
    ("another ConfigMap", mount("configMap", name="kube-root-ca.crt"), NOT_ITS_MOUNT),
    ("another volume claim", mount("persistentVolumeClaim", claimName="bank"), NOT_ITS_MOUNT),
    ("a token for its cloud and a Secret", mount("projected", sources=[{"serviceAccountToken": {"path": "t", "audience": "sts.amazonaws.com"}}, {"secret": {"name": "bank"}}]), "may mount"),
    ("a token", token(), "may mount"),
    ("a token for the API server by name", token(audience="https://kubernetes.default.svc"), "may mount"),
    ("a token for another audience", token(audience="vault"), "may mount"),
    ("a Secret by projection", mount("projected", sources=[{"secret": {"name": "bank"}}]), "may mount"),
    ("a CSI volume", mount("csi", driver="secrets.csi"), "may mount"),
    ("an ephemeral claim", mount("ephemeral", volumeClaimTemplate={"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}), "may mount"),
    ("a directory of the node", mount("hostPath", path="/"), NOT_ITS_MOUNT),
    ("the node's network", in_spec(hostNetwork=True), "its node"),
    ("the node's processes", in_spec(hostPID=True), "its node"),
    ("the node's IPC", in_spec(hostIPC=True), "its node"),
    ("a node of its choice", in_spec(nodeName="node-1"), "its node"),
    ("another account", in_spec(serviceAccountName="default"), "account that the operator has given"),
    ("its own account", in_spec(serviceAccountName="paimon-driver"), "an executor must"),
    ("the account's token", in_spec(automountServiceAccountToken=True), "its account's token"),
    ("another image", in_container(image="busybox"), NOT_ITS_IMAGE),
    ("another tag of the image", in_container(image="paimon-spark:other"), NOT_ITS_IMAGE),
    ("another command", in_container(command=["sh", "-c", "env"]), NOT_ITS_SHAPE),
    ("another role", in_container(args=["driver", "/tmp/job.json"]), NOT_ITS_SHAPE),
    ("more arguments", in_container(args=["executor", "more"]), NOT_ITS_SHAPE),
    ("a command at its start", in_container(lifecycle={"postStart": {"exec": {"command": ["env"]}}}), NOT_ITS_SHAPE),
    ("a command as a probe", in_container(readinessProbe={"exec": {"command": ["env"]}}), NOT_ITS_SHAPE),
    ("a second container", lambda body: body["spec"]["containers"].append(ANOTHER_CONTAINER), NOT_ITS_SHAPE),
    ("a first container", in_spec(initContainers=[ANOTHER_CONTAINER]), NOT_ITS_SHAPE),
    ("privilege", in_security(privileged=True, allowPrivilegeEscalation=True), WEAK),
    ("a writable root", in_security(readOnlyRootFilesystem=False), "read-only root"),
    ("more capabilities", in_security(capabilities={"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}), WEAK),
    ("another user", in_security(runAsUser=1000), WEAK),
    ("root", in_spec(securityContext={"runAsUser": 0}), "as root"),
    ("an SELinux type", in_security(seLinuxOptions={"type": "spc_t"}), WEAK),
    ("an SELinux type of the Pod", in_pod_security(seLinuxOptions={"type": "spc_t"}), "its node"),
    ("an AppArmor profile", in_security(appArmorProfile={"type": "Unconfined"}), EITHER),
    ("an AppArmor profile of the Pod", in_pod_security(appArmorProfile={"type": "Unconfined"}), EITHER),
    ("an AppArmor profile by annotation", add_annotations({"container.apparmor.security.beta.kubernetes.io/executor": "unconfined"}), EITHER),
    ("no deadline", without_deadline, "must have"),
    ("a later deadline", in_spec(activeDeadlineSeconds=DEADLINE_S + 1), "must have the deadline"),
    ("a port of the node", in_container(ports=[{"containerPort": 1, "hostPort": 1}]), WEAK),
    ("no label", in_metadata(labels={}), "name and the labels"),
    ("the labels of another run", labelled(run="orders-compact-0c0ffee0"), "the labels"),
    ("no role", labelled(role="driver"), "name and the labels"),
    ("a label that a Service looks for", labels({"app": "bank"}), NOT_ITS_LABEL),
    ("another value of a label of its own", labels({"team": "bank"}), NOT_ITS_LABEL),
    ("the label of another table", labelled(table="bank"), NOT_ITS_LABEL),
    ("the label of a driver's attempt", labelled(attempt="1"), NOT_ITS_LABEL),
    ("a label of ours that looks like Spark's", labels({"paimon-operator.dev/spark-x": "y"}), NOT_ITS_LABEL),
    ("the role of a driver of Spark", labels({"spark-role": "driver"}), "name and the labels"),
    ("another application of Spark", labels({"spark-app-selector": "bank"}), "name and the labels"),
    ("a role in the cloud", add_annotations({"iam.amazonaws.com/role": "bank"}), NOT_ITS_ANNOTATION),
    ("an annotation that an injector looks for", add_annotations({"vault.hashicorp.com/agent-inject": "true"}), NOT_ITS_ANNOTATION),
    ("a name of its own", in_metadata(name="bank-0"), "name and the labels"),
    ("the name of another driver's executor", in_metadata(name="orders-compact-0c0ffee0-1-exec-1"), "name and the labels"),
    ("a finalizer", in_metadata(finalizers=["paimon-operator.dev/finalizer"]), "name and the labels"),
    ("no owner", in_metadata(ownerReferences=[]), "owned by its driver"),
    ("another Pod as its owner", owned_by(A_POD), "owned by its driver"),
    ("a run as its owner", owned_by(A_POD | {"kind": "PaimonRun", "apiVersion": "paimon-operator.dev/v1alpha1"}), "owned by its driver"),
]  # fmt: skip
