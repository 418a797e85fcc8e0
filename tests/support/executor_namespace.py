"""The objects of a driver in mode Cluster on a real API server: its account, the policy, its ConfigMap and its Pod.

The chart renders accounts, Role and policy. The operator creates ConfigMap and Pod.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from kubernetes import client

from paimon_contract.job import Job, JobExecutors, JobSpark
from paimon_operator.api.base import GROUP, VERSION
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.core.launch.driver_pod import Launch, config_map, driver_pod, executor_rights
from paimon_operator.core.launch.executor_pod import Executors
from paimon_operator.core.naming import EXECUTOR_RIGHTS_PLURAL
from paimon_operator.core.storage.access import SecretKey, Variable
from tests.cluster import programs
from tests.cluster.apiserver import ApiServer, open_client

CHART = Path(__file__).resolve().parents[2] / "charts" / "paimon-operator"
IMAGE = "paimon-spark:for-tests"
DEADLINE_S = 3600
CREDENTIALS = tuple(
    Variable(name=key, secret_key=SecretKey(secret="lake-s3", key=key))
    for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
)
Object = dict[str, Any]
CoreApi = Any
"""An API of the client. It accepts and returns JSON, but its types require models."""


def core_api(opened: client.ApiClient) -> CoreApi:
    return client.CoreV1Api(opened)


def chart_objects(namespace: str, **workloads: Any) -> list[Object]:
    """The chart's objects for workloads in `namespace`."""
    (helm,) = programs.build(["helm"])
    values = {
        "allNamespaces": True,
        "workloads": {"namespaces": [namespace], **workloads},
        "spark": {"images": {"paimon-1.4": IMAGE, "paimon-0.9": None}, "defaultEngine": "paimon-1.4"},
    }
    shown = ("templates/workloads.yaml", "templates/admission-drivers.yaml")
    text = subprocess.run(
        [
            *(str(helm), "template", "paimon-operator", str(CHART), "--namespace", "paimon-system"),
            *("--kube-version", "1.34.4", "--values", "-"),
            *(part for file in shown for part in ("--show-only", file)),
        ],
        input=yaml.safe_dump(values),
        text=True,
        capture_output=True,
        check=True,
    ).stdout
    return [document for document in yaml.safe_load_all(text) if document]


def account_objects(namespace: str) -> list[Object]:
    """The chart's accounts and rights, without the policies, which the release installs for the whole cluster."""
    return [each for each in chart_objects(namespace) if "Policy" not in each["kind"]]


def launch_of(
    job: Job,
    *,
    instances: int = 2,
    timeout_s: int = 120,
    variables: tuple[Variable, ...] = CREDENTIALS,
    driver_account: str = "paimon-driver",
    conf: Mapping[str, str] = MappingProxyType({}),
) -> Launch:
    """The operator's launch of `job` in mode Cluster."""
    executors = JobExecutors(
        instances=instances,
        cores=1,
        cpu_millis=100,
        heap_mib=512,
        overhead_mib=384,
        service_account="paimon-spark",
        timeout_seconds=timeout_s,
    )
    spark = JobSpark(conf={"spark.sql.shuffle.partitions": "2", **conf}, executors=executors)
    return Launch(
        job=replace(job, spark=spark),
        image=IMAGE,
        cores=1,
        cpu_request_millis=100,
        memory_mib=1536,
        variables=variables,
        executors=Executors(job=executors, driver_account=driver_account, scratch="10Gi"),
    )


class ExecutorNamespace:
    """One namespace with the chart's accounts and the objects of runs."""

    def __init__(self, server: ApiServer, namespace: str, *, restricted: bool = True) -> None:
        self.server, self.namespace = server, namespace
        self.core = core_api(open_client(server.kubeconfig))
        self.custom: CoreApi = client.CustomObjectsApi(open_client(server.kubeconfig))
        self.as_operator: CoreApi = client.CustomObjectsApi(_operator(server))
        enforce = {"pod-security.kubernetes.io/enforce": "restricted" if restricted else "privileged"}
        self.core.create_namespace({"metadata": {"name": namespace, "labels": enforce}})
        self.apply(*chart_objects(namespace))
        keys = {"AWS_ACCESS_KEY_ID": "the-key-id", "AWS_SECRET_ACCESS_KEY": "the-secret-key"}
        self.core.create_namespaced_secret(namespace, {"metadata": {"name": "lake-s3"}, "stringData": keys})

    def apply(self, *objects: Object) -> None:
        self._kubectl("apply", "--server-side", objects=objects)

    def delete(self, *objects: Object) -> None:
        self._kubectl("delete", objects=objects)

    def _kubectl(self, *verb: str, objects: Sequence[Object]) -> None:
        (kubectl,) = programs.build(["kubectl"])
        command = [str(kubectl), f"--kubeconfig={self.server.kubeconfig}", *verb, "-f", "-"]
        subprocess.run(command, input=yaml.safe_dump_all(objects), text=True, check=True, capture_output=True)

    def account_of_drivers(self, name: str) -> str:
        """Creates a driver account for a catalog whose storage identifies accounts. Returns its name."""
        role = "paimon-driver"
        metadata = {"name": f"{role}-{name}", "namespace": self.namespace}
        subject = {"kind": "ServiceAccount", **metadata}
        self.apply(
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata},
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "RoleBinding",
                "metadata": metadata,
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role},
                "subjects": [subject],
            },
        )
        return metadata["name"]

    def make(self, run: PaimonRun, launch: Launch, attempt: int = 1) -> tuple[Object, Any]:
        """Creates the run's ConfigMap, its executors' rights and its driver Pod without their owner.

        Returns the data and the Pod.
        """
        job = config_map(run, launch, deadline_s=DEADLINE_S)
        bodies = (
            job,
            executor_rights(job, launch.image),
            driver_pod(
                run,
                launch,
                attempt=attempt,
                memory_mib=launch.memory_mib,
                deadline_s=DEADLINE_S,
                own_deadline_s=DEADLINE_S,
            ),
        )
        made: list[Object] = [body for body in bodies if body is not None]
        for body in made:
            kept = {name: value for name, value in body["metadata"].items() if name != "ownerReferences"}
            body["metadata"] = kept | {"namespace": self.namespace, "finalizers": []}
        settings, *rights, pod = made
        self.core.create_namespaced_config_map(self.namespace, settings, field_validation="Strict")
        for each in rights:
            self.give(each)
        return settings["data"], self.core.create_namespaced_pod(self.namespace, pod, field_validation="Strict")

    def give(self, rights: Object) -> None:
        """Creates the rights of a run's executors."""
        kind = (GROUP, VERSION, self.namespace, EXECUTOR_RIGHTS_PLURAL)
        self.as_operator.create_namespaced_custom_object(*kind, rights, field_validation="Strict")

    def take(self, name: str) -> Object:
        """Deletes the rights of a run's executors and returns what they were."""
        kind = (GROUP, VERSION, self.namespace, EXECUTOR_RIGHTS_PLURAL, name)
        rights: Object = self.custom.get_namespaced_custom_object(*kind)
        self.custom.delete_namespaced_custom_object(*kind)
        return {**rights, "metadata": {"name": name}}

    def token(self, pod: Any) -> str:
        """The token that the kubelet gives to this Pod."""
        bound = {"kind": "Pod", "apiVersion": "v1", "name": pod.metadata.name, "uid": pod.metadata.uid}
        body = {"spec": {"audiences": [], "boundObjectRef": bound}}
        answer = self.core.create_namespaced_service_account_token(pod.spec.service_account_name, self.namespace, body)
        token: str = answer.status.token
        return token

    def as_driver(self, pod: Any) -> CoreApi:
        """The API with the token of the driver in this Pod."""
        return self._as(self.token(pod))

    def as_account(self, account: str = "paimon-driver") -> CoreApi:
        """The API with a token of the account that is bound to no Pod."""
        answer = self.core.create_namespaced_service_account_token(account, self.namespace, {"spec": {}})
        return self._as(answer.status.token)

    def _as(self, token: str) -> CoreApi:
        settings = client.Configuration()
        settings.host, settings.ssl_ca_cert = self.server.url, str(self.server.authority.certificate)
        settings.api_key = {"authorization": f"Bearer {token}"}
        return core_api(client.ApiClient(settings))


def _operator(server: ApiServer) -> client.ApiClient:
    """A client with every right and the name of the operator's account."""
    opened = open_client(server.kubeconfig)
    opened.set_default_header("Impersonate-User", "system:serviceaccount:paimon-system:paimon-operator")  # type: ignore[no-untyped-call]
    opened.set_default_header("Impersonate-Group", "system:masters")  # type: ignore[no-untyped-call]
    return opened


def executor_of(pod: Any, data: Object, number: int = 1) -> Object:
    """A Pod as Spark creates it from the template; tests/spark/test_executors.py shows the same Pod."""
    body: Object = json.loads(data["executor.json"])
    name = pod.metadata.name
    body["metadata"]["name"] = f"{name}-exec-{number}"
    body["metadata"]["labels"] |= {
        "spark-role": "executor",
        "spark-app-selector": name,
        "spark-app-name": "paimon",
        "spark-exec-id": str(number),
        "spark-exec-resourceprofile-id": "0",
        "spark-version": "3.5.8",
    }
    owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": pod.metadata.uid, "controller": True}
    body["metadata"]["ownerReferences"] = [owner]
    container = body["spec"]["containers"][0]
    container |= {"image": IMAGE, "args": ["executor"], "resources": {"limits": {"memory": "1Gi"}}}
    container["env"] += [
        {"name": "SPARK_DRIVER_URL", "value": "spark://driver"},
        {"name": "SPARK_EXECUTOR_POD_IP", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "status.podIP"}}},
    ]
    return body
