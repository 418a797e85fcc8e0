"""A Pod as the API server stored it at the time of one request."""

from __future__ import annotations

from dataclasses import dataclass

from kubernetes import client

from tests.apiserver.api import as_json
from tests.support.manifests import Manifest

TABLE_LABEL = "paimon-operator.dev/table"


@dataclass(frozen=True)
class Pod:
    """One version of a Pod; `NamespaceClient.read_pod` reads the current one."""

    manifest: Manifest

    @classmethod
    def of(cls, model: client.V1Pod) -> Pod:
        return cls(as_json(model))

    @property
    def name(self) -> str:
        return str(self.manifest["metadata"]["name"])

    @property
    def uid(self) -> str:
        return str(self.manifest["metadata"]["uid"])

    @property
    def table(self) -> str:
        """Name of the table by the operator's label."""
        return str(self.manifest["metadata"]["labels"][TABLE_LABEL])

    @property
    def run(self) -> str:
        """Name of the run that owns the Pod."""
        (owner,) = self.manifest["metadata"]["ownerReferences"]
        return str(owner["name"])

    @property
    def config_map(self) -> str:
        """Name of the ConfigMap with the job."""
        return next(str(each["configMap"]["name"]) for each in self.manifest["spec"]["volumes"] if "configMap" in each)

    @property
    def finalizers(self) -> list[str]:
        return list(self.manifest["metadata"].get("finalizers") or ())

    @property
    def is_terminating(self) -> bool:
        return "deletionTimestamp" in self.manifest["metadata"]

    @property
    def is_active(self) -> bool:
        """Neither ended nor terminating."""
        return self.phase in ("Pending", "Running") and not self.is_terminating

    @property
    def phase(self) -> str:
        return str(self.manifest["status"]["phase"])

    @property
    def started(self) -> str | None:
        """When its container started, while that runs."""
        statuses = self.manifest["status"].get("containerStatuses") or [{}]
        started: str | None = statuses[0].get("state", {}).get("running", {}).get("startedAt")
        return started

    @property
    def node(self) -> str | None:
        """Node that the Pod is bound to."""
        name: str | None = self.manifest["spec"].get("nodeName")
        return name

    @property
    def account(self) -> str:
        return str(self.manifest["spec"]["serviceAccountName"])

    @property
    def container(self) -> Manifest:
        """The driver's container."""
        container: Manifest = self.manifest["spec"]["containers"][0]
        return container
