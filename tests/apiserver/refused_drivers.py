"""Pods that the admission policy of the operator's account refuses, each with the reason in its answer."""

# ruff: noqa: E501 - a decision table: one row is one line

from __future__ import annotations

from typing import Final

from tests.support.pod_edits import (
    Edit,
    Object,
    add_annotations,
    container,
    in_container,
    in_metadata,
    in_pod_security,
    in_security,
    in_spec,
    labels,
    mount,
    token,
    without_deadline,
)

_OTHER: Final[Object] = {"name": "more", "image": "busybox", "command": ["sh"]}
_NOT_OWNED = "must be controlled by a PaimonRun"
_NOT_LABELLED = "the name, the labels and the finalizer of a driver"
_NOT_ITS_SHAPE = "exactly one container of the name driver"
_NOT_BESIDE = "an image of admission.sidecarImages"
_CHOOSES_CODE = "must not choose the code"
_NOT_THERE = "only where it reads its job"
_OWN_PLACE = "must be an emptyDir"
_ITS_NODE = "its node"
_WEAK = "must pass Pod Security restricted"
_NOT_ITS_ACCOUNT = "must not use the operator's account"
_NOT_MOUNTED = "a driver may mount only"


def _variable(name: str, value: str = "x") -> Edit:
    return lambda body: container(body)["env"].append({"name": name, "value": value})


def _mounted_at(path: str, **more: object) -> Edit:
    return lambda body: container(body)["volumeMounts"].append({"name": "job", "mountPath": path, **more})


def _mounted(volume: str, path: str, **source: object) -> Edit:
    def edit(body: Object) -> None:
        body["spec"]["volumes"].append({"name": volume, **source})
        others = [each for each in container(body)["volumeMounts"] if each["mountPath"] != path]
        container(body)["volumeMounts"] = [*others, {"name": volume, "mountPath": path}]

    return edit


def _owner(**changes: object) -> Edit:
    def edit(body: Object) -> None:
        body["metadata"]["ownerReferences"][0].update(changes)

    return edit


def _all(*edits: Edit) -> Edit:
    def edit(body: Object) -> None:
        for each in edits:
            each(body)

    return edit


REFUSED_DRIVERS: list[tuple[str, Edit, str]] = [
    ("no owner", in_metadata(ownerReferences=[]), _NOT_OWNED),
    ("a table as its owner", _owner(kind="PaimonTable"), _NOT_OWNED),
    ("a run of another group as its owner", _owner(apiVersion="example.com/v1"), _NOT_OWNED),
    ("an owner that does not control it", _owner(controller=False), _NOT_OWNED),
    ("no label", in_metadata(labels={}), _NOT_LABELLED),
    ("the label of another manager", labels({"app.kubernetes.io/managed-by": "Helm"}), _NOT_LABELLED),
    ("the label of an executor", labels({"paimon-operator.dev/role": "executor"}), ""),
    ("the name of another Pod", in_metadata(name="bank-0-of-a-set"), _NOT_LABELLED),
    ("no finalizer", in_metadata(finalizers=[]), _NOT_LABELLED),
    ("a finalizer of another", in_metadata(finalizers=["paimon-operator.dev/finalizer", "a.test/x"]), _NOT_LABELLED),
    ("another command", in_container(command=["sh", "-c", "env"]), _NOT_ITS_SHAPE),
    ("the image's own command", lambda body: container(body).pop("command"), _NOT_ITS_SHAPE),
    ("another role", in_container(args=["executor"]), _NOT_ITS_SHAPE),
    ("another job", in_container(args=["driver", "/tmp/job.json"]), _NOT_ITS_SHAPE),
    ("a command at its start", in_container(lifecycle={"postStart": {"exec": {"command": ["env"]}}}), _NOT_ITS_SHAPE),
    ("a command as a probe", in_container(livenessProbe={"exec": {"command": ["env"]}}), _NOT_ITS_SHAPE),
    ("no driver", in_container(name="other"), _NOT_ITS_SHAPE),
    ("another image", in_container(image="busybox"), "must run an image of spark.images"),
    ("another tag of the image", lambda body: container(body).update(image=container(body)["image"] + "-x"), "must run an image of spark.images"),
    ("a second container", lambda body: body["spec"]["containers"].append(_OTHER), _NOT_BESIDE),
    ("a first container", in_spec(initContainers=[_OTHER]), _NOT_BESIDE),
    ("a whole Secret in its environment", in_container(envFrom=[{"secretRef": {"name": "bank"}}]), "may use envFrom"),
    *((f"{name} in its environment", _variable(name), _CHOOSES_CODE) for name in ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "LD_PRELOAD", "PYTHONPATH", "PYSPARK_PYTHON", "SPARK_APPS_MAIN", "PAIMON_OPERATOR_HOME", "PATH", "BASH_ENV", "HADOOP_CLASSPATH", "HOME", "SHELLOPTS", "OPENSSL_CONF", "GCONV_PATH", "TMPDIR", "AWS_CONFIG_FILE", "KUBERNETES_SERVICE_HOST", "SOMETHING_NEW")),
    ("the configuration of an observer", _variable("OBSERVER_CONFIG"), "nothing else has the configuration of one"),
    ("a token for the operator", token(audience="paimon-operator"), _NOT_MOUNTED),
    ("a file of keys that runs a program", _all(_variable("AWS_SHARED_CREDENTIALS_FILE", "/etc/paimon-storage/mine/credentials"), _mounted("mine", "/etc/paimon-storage/mine", configMap={"name": "mine"})), _CHOOSES_CODE),
    ("a file of keys in a ConfigMap", _mounted("credentials", "/etc/paimon-storage/credentials", configMap={"name": "mine"}), _OWN_PLACE),
    ("options of Java in a path", _variable("KRB5_CONFIG", "/etc/krb5.conf -javaagent:/data/agent.jar"), _CHOOSES_CODE),
    ("another image for its executors", _variable("EXECUTOR_IMAGE", "busybox"), _CHOOSES_CODE),
    ("files in its scratch space", _mounted("prepared", "/tmp", configMap={"name": "mine"}), _OWN_PLACE),
    ("another working directory", in_container(workingDir="/data"), _NOT_ITS_SHAPE),
    ("a file over the image's by its message", in_container(terminationMessagePath="/opt/paimon-operator/app.jsa"), _NOT_ITS_SHAPE),
    ("no AppArmor profile by an annotation", add_annotations({"container.apparmor.security.beta.kubernetes.io/driver": "unconfined"}), ""),
    ("a file over the image's code", _mounted_at("/opt/paimon-operator"), _NOT_THERE),
    ("a file over the image's programs", _mounted_at("/usr/bin/java", subPath="java"), _NOT_THERE),
    ("a path that climbs", _mounted_at("/var/run/secrets/../../../opt"), _NOT_THERE),
    ("a device of a claim", in_container(volumeDevices=[{"name": "tmp", "devicePath": "/dev/x"}]), ""),
    ("a mount of the node's mounts", _mounted_at("/data", mountPropagation="HostToContainer"), _NOT_THERE),
    ("the node's network", in_spec(hostNetwork=True), _ITS_NODE),
    ("the node's processes", in_spec(hostPID=True), _ITS_NODE),
    ("the node's IPC", in_spec(hostIPC=True), _ITS_NODE),
    ("processes shared between containers", in_spec(shareProcessNamespace=True), _ITS_NODE),
    ("a node of its choice", in_spec(nodeName="node-1"), _ITS_NODE),
    ("a device", in_spec(resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}]), _ITS_NODE),
    ("root", in_pod_security(runAsUser=0), _ITS_NODE),
    ("a user of the image's choice", in_pod_security(runAsNonRoot=False), _ITS_NODE),
    ("no seccomp profile", in_pod_security(seccompProfile={"type": "Unconfined"}), _ITS_NODE),
    ("a kernel parameter", in_pod_security(sysctls=[{"name": "kernel.shm_rmid_forced", "value": "1"}]), _ITS_NODE),
    ("an SELinux type of the Pod", in_pod_security(seLinuxOptions={"type": "spc_t"}), _ITS_NODE),
    ("an AppArmor profile of the Pod", in_pod_security(appArmorProfile={"type": "Unconfined"}), _ITS_NODE),
    ("privilege", in_security(privileged=True, allowPrivilegeEscalation=True), _WEAK),
    ("escalation", in_security(allowPrivilegeEscalation=True), _WEAK),
    ("a writable root", in_security(readOnlyRootFilesystem=False), _WEAK),
    ("more capabilities", in_security(capabilities={"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}), _WEAK),
    ("all capabilities", in_security(capabilities={}), _WEAK),
    ("root in the container", in_security(runAsUser=0), _WEAK),
    ("no seccomp profile in the container", in_security(seccompProfile={"type": "Unconfined"}), _WEAK),
    ("an SELinux type", in_security(seLinuxOptions={"type": "spc_t"}), _WEAK),
    ("an AppArmor profile", in_security(appArmorProfile={"type": "Unconfined"}), _WEAK),
    ("the node's /proc", in_security(procMount="Unmasked"), ""),
    ("a port of the node", in_container(ports=[{"containerPort": 1, "hostPort": 1}]), _WEAK),
    ("a priority of the system", in_spec(priorityClassName="system-cluster-critical"), "must not have a priority class of the system"),
    ("no deadline", without_deadline, "must have a deadline"),
    ("restarts", in_spec(restartPolicy="Always"), ""),
    ("its account's token", in_spec(automountServiceAccountToken=True), _NOT_MOUNTED),
    ("the token of the drivers' account", in_spec(automountServiceAccountToken=True, serviceAccountName="paimon-driver"), _NOT_MOUNTED),
    ("the operator's account", in_spec(serviceAccountName="paimon-operator"), _NOT_ITS_ACCOUNT),
    ("a token for the API server", token(), _NOT_MOUNTED),
    ("a token for the API server by name", token(audience="https://kubernetes.default.svc"), _NOT_MOUNTED),
    ("a token for the API server, of an account whose name is like a driver's", _all(token(), in_spec(serviceAccountName="paimon-drivers")), _NOT_MOUNTED),
    ("a Secret by projection", mount("projected", sources=[{"secret": {"name": "bank"}}]), _NOT_MOUNTED),
    ("a directory of the node", mount("hostPath", path="/"), _NOT_MOUNTED),
    ("a CSI volume", mount("csi", driver="secrets.csi"), _NOT_MOUNTED),
    ("a network file system", mount("nfs", server="10.0.0.1", path="/"), _NOT_MOUNTED),
    ("an ephemeral claim", mount("ephemeral", volumeClaimTemplate={"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}), _NOT_MOUNTED),
]  # fmt: skip
"""An empty reason: the API server's own validation, or another rule, may refuse it first."""
