"""A Ready table of which the test says what its runs find: the schema's number, and changes that somebody else made."""

from __future__ import annotations

from typing import Any, Final

from kubernetes import client

from tests.apiserver.namespace_client import TABLES, NamespaceClient
from tests.apiserver.pod import Pod
from tests.support.manifests import REMOVED, Manifest, edited, keyed_table, run

OPTION: Final[Manifest] = {"change": "OptionChanged", "field": "snapshot.num-retained.min", "before": "3", "after": "5"}
WRITTEN: Final = "2026-11-21T07:00:00Z"
"""When the altered schema was written."""


def found(schema_id: int, *changes: Manifest, baseline: int | None = 0, **more: Any) -> Manifest:
    """What a driver reports of the latest schema and of the changes since `baseline`."""
    drift = {"schemaId": schema_id, "schemaDigest": f"{schema_id:016x}", "schemaTime": WRITTEN}
    since = {} if baseline is None else {"baselineId": baseline}
    return drift | since | {"count": len(changes), "changes": list(changes)} | more


def measure(schema_id: int) -> Manifest:
    """What a driver reports of the table's size."""
    return {"schemaId": schema_id, "snapshotId": 1, "bucketMode": "Dynamic", "files": 1, "rows": 10, "sizeBytes": 2048}


class WatchedTable:
    """One table. Each method ends the run that the table must have at that time."""

    def __init__(self, ns: NamespaceClient, name: str, **spec: object) -> None:
        """Creates it and makes it Ready, with schema 0."""
        self.ns, self.name = ns, name
        edits = {f"spec__{key}": value for key, value in spec.items()}
        ns.create(edited(keyed_table(spec__writes=REMOVED), metadata__name=name, **edits))
        self.end("Provision", drift=found(0, baseline=None), created=True, table=measure(0))
        self.wait("Ready", "True")
        self.wait("Drifted", "False", "TableUnaltered")

    @property
    def status(self) -> Manifest:
        status: Manifest = self.ns.get(TABLES, self.name)["status"]
        return status

    def wait(self, type_: str, status: str, reason: str | None = None) -> Manifest:
        """Returns the condition once it has this status."""
        return self.ns.wait_for_condition(TABLES, self.name, type_, status, reason)

    def end(self, type_: str, **result: Any) -> Pod:
        """Ends the next run, of this type, with this result. Returns once the table's status has it."""
        pod = self.ns.wait_for_pod(of=self.name)
        assert self.ns.run_type(pod) == type_
        self.ns.succeed(pod, **result)
        self.ns.wait(lambda: self.status.get("activeRun", {}).get("name") != pod.run, f"the end of {pod.run}")
        return pod

    def look(self, name: str, *changes: Manifest, schema: int) -> None:
        """A user requests a look, which finds these changes since the schema that the operator has left."""
        request(self.ns, self.name, name, "Observe")
        baseline = self.status["provision"]["schemaId"]
        self.end("Observe", drift=found(schema, *changes, baseline=baseline), table=measure(schema))

    def correct(self, taken_back: Manifest, *, schema: int) -> Manifest:
        """Ends the run that takes the change back. Returns its job."""
        baseline = self.status["provision"]["schemaId"]
        left = found(schema, baseline=baseline, takenBack=[taken_back])
        return self.ns.read_job(self.end("Provision", drift=left, created=False, table=measure(schema)))

    def events(self, reason: str) -> list[str]:
        """The texts of the Events about the table, each as often as it was posted."""
        selector = f"reason={reason},involvedObject.name={self.name}"
        listed = self.ns.core.list_namespaced_event(self.ns.namespace, field_selector=selector).items
        return [each.message or "" for each in listed for _ in range(_times(each))]


def _times(event: client.CoreV1Event) -> int:
    """How often it was posted."""
    count = event.series.count if event.series else None
    return count or 1


def request(ns: NamespaceClient, table: str, name: str, type_: str) -> None:
    """Creates a run as a user does."""
    ns.create(run(metadata__name=name, spec__tableRef__name=table, spec__type=type_, spec__compact=REMOVED))
