"""The audit log has the body of every write except those of Secrets. The search for secret values relies on it."""

from __future__ import annotations

from datetime import UTC, datetime

from kubernetes import client

from tests.apiserver.api import Body
from tests.apiserver.namespace_client import NamespaceClient
from tests.cluster.apiserver import ApiServer
from tests.support.manifests import REMOVED, edited, keyed_table
from tests.support.secret_search import files, found
from tests.support.secret_values import SecretValue


def test_a_value_in_an_object_is_found_after_its_deletion_and_a_value_in_a_secret_is_not(
    api_server: ApiServer,
) -> None:
    ns = NamespaceClient(api_server.kubeconfig, "audited")
    inside = {kind: f'{kind} "holds" <a value>' for kind in ("ConfigMap", "Pod", "PaimonTable", "Event", "Secret")}
    _write(ns, inside)
    ns.core.delete_collection_namespaced_config_map(ns.namespace)
    ns.close()

    log = api_server.audit_log
    hits = found(
        [SecretValue(kind, text.encode()) for kind, text in inside.items()], files("audit log", log.parent, log.name)
    )
    assert {hit.split(" in ")[0] for hit in hits} == set(inside) - {"Secret"}


def _write(ns: NamespaceClient, inside: dict[str, str]) -> None:
    core, space = ns.core, ns.namespace
    secret: Body = {"metadata": {"name": "s"}, "stringData": {"x": inside["Secret"]}}
    core.create_namespaced_secret(space, secret)
    config_map: Body = {"metadata": {"name": "c"}, "data": {"x": inside["ConfigMap"]}}
    core.create_namespaced_config_map(space, config_map)
    container = {"name": "c", "image": "i", "env": [{"name": "X", "value": inside["Pod"]}]}
    pod: Body = {"metadata": {"name": "p"}, "spec": {"containers": [container]}}
    core.create_namespaced_pod(space, pod)
    table = edited(keyed_table(spec__writes=REMOVED), spec__schema__comment=inside["PaimonTable"])
    ns.create(table)
    about = {"apiVersion": "v1", "kind": "Pod", "name": "p", "namespace": space}
    event: Body = {
        "metadata": {"name": "e"},
        "regarding": about,
        "eventTime": datetime(2026, 11, 21, 8, 0, 0, 1, tzinfo=UTC),
        "reportingController": "a.test/x",
        "reportingInstance": "x",
        "action": "X",
        "reason": "X",
        "type": "Normal",
        "note": inside["Event"],
    }
    client.EventsV1Api(ns.client).create_namespaced_event(space, event)
